"""The flow of a scheduled command says exactly what was scheduled."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.flow.commands.scheduled_command import scheduled_command
from penstock.flow.components.exec import Exec
from penstock.flow.components.quartz import Quartz
from penstock.flow.eips.to import To
from penstock.flow.parsing.parser import parse_flow
from penstock.kernel.cron import Cron

CRON = "0 */5 * * * MON-FRI"
PIECES = (
    "${body}", "{{", "}}", "{{var:X}}", "#{bean}", "\\", "'", '"', "\n", "\r\n", "\t", " ", "- ", "--", ": ", "#", "&",
    "*", "!", "|", ">", "%", "@", "`", "~", "null", "yes", "007", "\x85", "\u2028", "\ufeff", "ä", "漢", "🚰", "\x07",
    "=", "?",
)  # fmt: skip
argument = st.one_of(st.lists(st.sampled_from(PIECES), max_size=6).map("".join), st.text())


def read(command: str, args: list[str]) -> tuple[Quartz, Exec]:
    flow = parse_flow("schedule-a", "1", scheduled_command("schedule-a", CRON, command, args))
    (route,) = flow.routes
    (step,) = route.steps
    assert isinstance(step, To)
    assert isinstance(step.endpoint, Exec)
    assert isinstance(route.consumer, Quartz)
    return route.consumer, step.endpoint


@given(argument.filter(bool), st.lists(argument, max_size=5))
def test_command_and_arguments_come_back_exactly(command: str, args: list[str]) -> None:
    _, run = read(command, args)
    assert str(run.executable) == command
    assert [str(text) for text in run.args] == args


@pytest.mark.parametrize("text", ["${body}", "${header.x}", "{{.Names}}", "#{x}", "-", "- a", "a\n\nb\n", " a ", ""])
def test_what_looks_like_something_else_is_still_plain_text(text: str) -> None:
    _, run = read("job", [text])
    assert [argument.literal for argument in run.args] == [text]


def test_a_variable_in_an_argument_stays_a_variable() -> None:
    _, run = read("job", ["--host={{var:HOST}}"])
    assert run.args[0].references == ("HOST",)


def test_the_cron_expression_and_the_exit_value_are_the_schedules() -> None:
    start, run = read("job", [])
    assert start.cron == Cron.parse(CRON)
    assert run.exit_values == {0}


def test_the_route_is_named_after_the_schedules_flow() -> None:
    flow = parse_flow("schedule-a", "1", scheduled_command("schedule-a", CRON, "job", []))
    assert flow.routes[0].id == "schedule-a"
