"""The same flow does the same on both engines."""

import re
from pathlib import Path

import pytest

from tests.differential.case import Case, cases
from tests.differential.conftest import Outcomes
from tests.differential.outcome import Outcome

pytestmark = pytest.mark.timeout(300)  # a Java process takes its time on a busy machine

_PAGE = Path(__file__).parents[2] / "docs" / "camel-differences.md"
_COLLECTOR = re.compile(r"127\.0\.0\.1:\d+")


@pytest.mark.parametrize("case", [pytest.param(each, id=each.name) for each in cases()])
def test_a_flow_does_the_same_on_both_engines(case: Case, outcomes: Outcomes, request: pytest.FixtureRequest) -> None:
    native, camel = outcomes.native[case.name], outcomes.camel[case.name]
    if isinstance(camel, str):
        pytest.skip(f"not on Camel here: {camel}")
    if case.differs:
        request.applymarker(pytest.mark.xfail(reason=case.differs, strict=True))
    assert isinstance(native, Outcome), native
    assert _comparable(native) == _comparable(camel)


def test_what_differs_is_in_the_documentation() -> None:
    rows = re.findall(r"^\| ([a-z][a-z-]*) \| (.+) \|$", _PAGE.read_text(), re.MULTILINE)
    assert dict(rows[1:]) == {case.name: case.differs for case in cases() if case.differs}


def test_enough_flows_are_compared(outcomes: Outcomes) -> None:
    assert len([each for each in outcomes.camel.values() if isinstance(each, Outcome)]) >= 40


def _comparable(outcome: Outcome) -> dict[str, object]:
    """The outcome without the port of the server that was called, which is another on each side."""
    return {
        "answers": [
            (each.status, sorted(each.headers.items()), _COLLECTOR.sub("SERVER", each.body)) for each in outcome.answers
        ],
        "logs": [_COLLECTOR.sub("SERVER", line) for line in outcome.logs],
        "counts": (outcome.total, outcome.failed),
        "files": outcome.files,
    }
