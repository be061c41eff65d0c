"""What is wrong with a flow that is to be saved, all of it at once."""

from collections.abc import Iterator, Sequence

from penstock.areas.flows.model import IntegrationFlow, IntegrationFlowFile
from penstock.flow.choice import choose, forced_engine
from penstock.flow.parsing.problem import InvalidFlow
from penstock.kernel.errors import FieldError, Invalid
from penstock.kernel.names import name_errors, name_key
from penstock.kernel.wire import encode
from penstock.protocol.capability import Requirement

_KIB = 1024
_LONGEST_SPEC = 1024 * _KIB
_LONGEST_README = 1024 * _KIB
_LONGEST_PACKAGES = 16 * _KIB
_LONGEST_VARIABLES = 256 * _KIB
_LONGEST_WORD = 256
_LONGEST_FILE_NAME = 200  # bytes; file systems take 255
_MOST_FILES = 500
_MOST_LABELS = 100
_MOST_REQUIREMENTS = 100
_SEPARATORS = frozenset("/\\")


def check_flow(flow: IntegrationFlow, version: str) -> None:
    """Raises Invalid; what is wrong with the spec is told with line, column and element, as field FlowSpec."""
    errors = [
        *name_errors("Name", flow.name),
        *_word_errors(flow),
        *_spec_errors(flow, version),
        *_variable_errors(flow),
        *_file_errors(flow.integration_files or ()),
        *_requirement_errors(flow.requirements or ()),
    ]
    if errors:
        raise Invalid(errors)


def _word_errors(flow: IntegrationFlow) -> Iterator[FieldError]:
    words = [("Project", flow.project), ("Category", flow.category)]
    words += [(f"Labels[{index}]", label) for index, label in enumerate(flow.labels or ())]
    for field, word in words:
        yield from _text_errors(field, word, _LONGEST_WORD)
    if len(flow.labels or ()) > _MOST_LABELS:
        yield FieldError("Labels", f"must be at most {_MOST_LABELS}")
    yield from _text_errors("AdditionalPackages", flow.additional_packages, _LONGEST_PACKAGES)
    yield from _text_errors("Readme", flow.readme, _LONGEST_README)


def _spec_errors(flow: IntegrationFlow, version: str) -> Iterator[FieldError]:
    if not (flow.flow_spec or "").strip():
        yield FieldError(
            "FlowSpec", "is required: routes in Camel's YAML DSL, such as `- from: {uri: ..., steps: [...]}`"
        )
        return
    if len((flow.flow_spec or "").encode(errors="replace")) > _LONGEST_SPEC:
        yield FieldError("FlowSpec", f"must have at most {_LONGEST_SPEC // _KIB} KiB")
        return
    try:
        choose(flow.name or "flow", version, flow.flow_spec or "", forced_engine(flow.variables))
    except InvalidFlow as error:
        yield from (FieldError("FlowSpec", f"line {p.line}, column {p.column}: {p}") for p in error.problems)
    except Invalid as error:
        yield from error.errors


def _variable_errors(flow: IntegrationFlow) -> Iterator[FieldError]:
    seen: set[str] = set()
    for name in flow.variables or {}:
        yield from (FieldError(f"Variables.{name}", error.message) for error in name_errors(name, name))
        if name_key(name) in seen:
            yield FieldError(f"Variables.{name}", "is given twice; names are compared without case")
        seen.add(name_key(name))
    if len(encode(flow.variables)) > _LONGEST_VARIABLES:
        yield FieldError("Variables", f"must have at most {_LONGEST_VARIABLES // _KIB} KiB; put larger ones into files")


def _file_errors(files: Sequence[IntegrationFlowFile]) -> Iterator[FieldError]:
    if len(files) > _MOST_FILES:
        yield FieldError("IntegrationFiles", f"must be at most {_MOST_FILES}")
    seen: set[str] = set()
    for index, file in enumerate(files):
        field = f"IntegrationFiles[{index}].FileName"
        name = file.file_name or ""
        if (message := _file_name_error(name)) is not None:
            yield FieldError(field, message)
        elif name_key(name) in seen:
            yield FieldError(field, f"'{name}' is given twice; names are compared without case")
        seen.add(name_key(name))
        yield from _text_errors(f"IntegrationFiles[{index}].FileContent", file.file_content, None)


def _file_name_error(name: str) -> str | None:
    """A name is that of a file in the flow's folder and of nothing else."""
    if not name:
        return "is required"
    if name in (".", "..") or _SEPARATORS & set(name) or not name.isprintable() or name != name.strip():
        return "must be a plain file name, without folders"
    if len(name.encode(errors="replace")) > _LONGEST_FILE_NAME:
        return f"must have at most {_LONGEST_FILE_NAME} bytes"
    return None


def _requirement_errors(requirements: Sequence[Requirement]) -> Iterator[FieldError]:
    if len(requirements) > _MOST_REQUIREMENTS:
        yield FieldError("Requirements", f"must be at most {_MOST_REQUIREMENTS}")
    for index, requirement in enumerate(requirements):
        if not (requirement.identifier or "").strip():
            yield FieldError(f"Requirements[{index}].Identifier", "is required")
        yield from _text_errors(f"Requirements[{index}].Identifier", requirement.identifier, _LONGEST_WORD)
        yield from _text_errors(f"Requirements[{index}].Value", requirement.value, _LONGEST_WORD)


def _text_errors(field: str, text: str | None, longest: int | None) -> Iterator[FieldError]:
    if text is None:
        return
    if longest is not None and len(text) > longest:
        yield FieldError(field, f"must have at most {longest} characters")
    if not _is_storable(text):
        yield FieldError(field, "must be text without NUL")


def _is_storable(text: str) -> bool:
    """No lone surrogates, which have no form in UTF-8, and no NUL, which PostgreSQL does not keep."""
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False
