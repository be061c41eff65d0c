"""Requests to the interactive engine, and what it answers."""

from datetime import datetime
from enum import IntEnum
from typing import Any
from uuid import UUID

from penstock.kernel.duration import Duration
from penstock.kernel.wire import Int32, Wire


class CompletionItemKind(IntEnum):
    """What a suggestion is, in Monaco's numbers."""

    METHOD = 0
    FUNCTION = 1
    CONSTRUCTOR = 2
    FIELD = 3
    VARIABLE = 4
    CLASS = 5
    STRUCT = 6
    INTERFACE = 7
    MODULE = 8
    PROPERTY = 9
    EVENT = 10
    OPERATOR = 11
    UNIT = 12
    VALUE = 13
    CONSTANT = 14
    ENUM = 15
    ENUM_MEMBER = 16
    KEYWORD = 17
    TEXT = 18
    COLOR = 19
    FILE = 20
    REFERENCE = 21
    CUSTOM_COLOR = 22
    FOLDER = 23
    TYPE_PARAMETER = 24
    USER = 25
    ISSUE = 26
    TOOL = 27
    SNIPPET = 28


class ExecuteRequest(Wire):
    """Code for the kernels of a notebook.

    CommandPrefix: lines before the code, such as `#!python`. FreshKernel: start the notebook's kernels anew.
    PreferredFormat: the media type of OutputString. KernelType: the kernel of code without a mark; python.
    """

    notebook_id: UUID
    code: str | None = None
    command_prefix: str | None = None
    fresh_kernel: bool = False
    preferred_format: str | None = None
    kernel_type: str | None = None


class FormattedResult(Wire):
    """An output in one media type; a value that is no text as JSON, an image in base64."""

    type: str | None = None
    value: str | None = None


class ExecuteResult(Wire):
    """One output. Output: its value; OutputJson: the same as a text of JSON. OutputString: in the type OutputType.
    DisplayString: plain text. FormattedResults: in every type there is.
    """

    id: str | None = None
    output: Any | None = None
    output_type: str | None = None
    output_json: str | None = None
    output_string: str | None = None
    display_string: str | None = None
    formatted_results: list[FormattedResult] | None = None
    duration: Duration
    time: datetime


class ExecuteEnd(Wire):
    """The end of a run that was streamed. Error: why it failed; null when it did not."""

    error: str | None = None
    duration: Duration


class GetSuggestionsRequest(Wire):
    """A position in code. LineNumber and Column begin at 1, as Monaco's; Column counts code points."""

    notebook_id: UUID
    code: str | None = None
    line_number: Int32
    column: Int32


class Suggestion(Wire):
    """What may stand at the position; InsertText takes the place of the word that was begun."""

    label: str | None = None
    insert_text: str | None = None
    kind: CompletionItemKind
    documentation: str | None = None


class ExecuteDibRequestParameter(Wire):
    """A value for a parameter, as a text of JSON. TypeName: what it is, where the document leaves that open."""

    name: str | None = None
    type_name: str | None = None
    value_json: str | None = None


class ExecuteDibRequest(Wire):
    """A document to run. SessionId: whose kernels are kept between requests; without it, or with OneTimeKernel, the
    document gets kernels of its own.
    """

    dib: str | None = None
    session_id: str | None = None
    parameters: list[ExecuteDibRequestParameter] | None = None
    preferred_format: str | None = None
    kernel_type: str | None = None
    one_time_kernel: bool = False


FILE_TYPE = "application/vnd.penstock.file+json"
