"""Outputs as the API shows them."""

from datetime import datetime, timedelta

from penstock.areas.interactive.model import (
    FILE_TYPE,
    CompletionItemKind,
    ExecuteResult,
    FormattedResult,
    Suggestion,
)
from penstock.engine.message import Completion
from penstock.engine.output import TEXT, Output
from penstock.engine.result import bundle, rendered, value_of
from penstock.kernel.duration import Duration
from penstock.kernel.ids import new_id
from penstock.kernel.wire import encode
from penstock.resource.ports.runs import RunFile

_KINDS = {
    "class": CompletionItemKind.CLASS,
    "function": CompletionItemKind.FUNCTION,
    "instance": CompletionItemKind.VARIABLE,
    "keyword": CompletionItemKind.KEYWORD,
    "magic": CompletionItemKind.FUNCTION,
    "module": CompletionItemKind.MODULE,
    "namespace": CompletionItemKind.MODULE,
    "param": CompletionItemKind.VARIABLE,
    "path": CompletionItemKind.FILE,
    "property": CompletionItemKind.PROPERTY,
    "statement": CompletionItemKind.VARIABLE,
}


def result_of(output: Output, preferred: str | None, duration: timedelta, time: datetime) -> ExecuteResult:
    """duration: of the run so far. time: when it was shown."""
    value, shown = value_of(output), rendered(output, preferred)
    return ExecuteResult(
        id=str(new_id()),
        output=value,
        output_type=shown.media_type,
        output_json=encode(value).decode(),
        output_string=shown.text,
        display_string=str(output.data.get(TEXT, "")),
        formatted_results=[FormattedResult(type=name, value=text) for name, text in bundle(output)],
        duration=Duration.of(duration),
        time=time,
    )


def result_of_file(file: RunFile, duration: timedelta, time: datetime) -> ExecuteResult:
    """A file as one of the outputs."""
    text = encode(file).decode()
    return ExecuteResult(
        id=file.id or str(new_id()),
        output=file,
        output_type=FILE_TYPE,
        output_json=text,
        output_string=text,
        display_string=file.file_name if file.id else f"{file.file_name} is too large to be kept",
        formatted_results=[FormattedResult(type=FILE_TYPE, value=text)],
        duration=Duration.of(duration),
        time=time,
    )


def suggestion_of(completion: Completion) -> Suggestion:
    """A completion with Monaco's kind."""
    return Suggestion(
        label=completion.text.rpartition(".")[2] or completion.text,
        insert_text=completion.text,
        kind=_KINDS.get(completion.type, CompletionItemKind.TEXT),
        documentation=completion.documentation,
    )


def position_of(code: str, line_number: int, column: int) -> int | None:
    """The position in code points; None when the code has no such place."""
    lines = code.split("\n")
    if not 1 <= line_number <= len(lines) or not 1 <= column <= len(lines[line_number - 1]) + 1:
        return None
    return sum(len(line) + 1 for line in lines[: line_number - 1]) + column - 1
