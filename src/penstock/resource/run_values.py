"""Parameters of runs: checked against what a document declares; and answers of runs as files."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from penstock.engine.documents.analysis import Analysis
from penstock.engine.documents.parameters import Given, check_values
from penstock.engine.result import RunFailed
from penstock.kernel.errors import FieldError, Invalid, Unavailable
from penstock.resource.answer import File
from penstock.resource.ports.runs import RunAnswer, RunParameter

RUN_HEADER = "penstock-run"
_FAILED = 422


def run_values(analysis: Analysis, given: Sequence[RunParameter]) -> dict[str, Any]:
    """The values of a run, the document's defaults among them. Raises Invalid with every problem."""
    nameless = [
        FieldError(f"Parameters[{index}].Name", "is required") for index, each in enumerate(given) if not each.name
    ]
    if nameless:
        raise Invalid(nameless)
    defaults = {p.name: p.default for p in analysis.parameters if p.default is not None}
    values = [
        Given(each.name or "", "null" if each.value_json is None else each.value_json, None, _field(index))
        for index, each in enumerate(given)
    ]
    return check_values(analysis.parameters, values, defaults)


def file_of(run: UUID, answer: RunAnswer) -> File:
    """What a run answered. Raises RunFailed when its code failed, Unavailable when it was cut off."""
    if answer.error is not None:
        raise RunFailed(answer.error) if answer.status_code == _FAILED else Unavailable(answer.error)
    return File(answer.body, answer.media_type, headers=((RUN_HEADER, str(run)),))


def _field(index: int) -> str:
    return f"Parameters[{index}].ValueJson"
