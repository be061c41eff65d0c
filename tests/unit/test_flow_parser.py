"""Reading flows: what is understood, and how errors are told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.flow.components.exec import Exec
from penstock.flow.components.quartz import Quartz
from penstock.flow.components.timer import Timer
from penstock.flow.definition import FlowDefinition
from penstock.flow.eips.log import LogStep
from penstock.flow.eips.to import To
from penstock.flow.family import Family
from penstock.flow.parsing.parser import parse_flow
from penstock.flow.parsing.problem import InvalidFlow, Unknown
from penstock.flow.period import Period
from penstock.kernel.cron import Cron
from penstock.kernel.errors import Invalid


def parsed(source: str) -> FlowDefinition:
    return parse_flow("orders", "1", source)


def steps(written: str) -> str:
    indented = "\n".join(f"      {line}" for line in written.strip("\n").split("\n"))
    return f"- from:\n    uri: timer:tick\n    steps:\n{indented}\n"


def problems(source: str) -> list[tuple[int, str]]:
    with pytest.raises(InvalidFlow) as refused:
        parsed(source)
    return [(problem.line, str(problem)) for problem in refused.value.problems]


def test_route_and_from_are_two_ways_to_write_a_route() -> None:
    flow = parsed(
        "- route:\n    id: first\n    from: {uri: 'timer:a', steps: [log: hello]}\n"
        "- from: {uri: 'timer:b', steps: [log: hello]}\n"
    )
    assert [route.id for route in flow.routes] == ["first", "orders-2"]


def test_a_route_without_an_id_is_called_after_the_flow() -> None:
    assert parsed(steps("- log: hello")).routes[0].id == "orders"


@pytest.mark.parametrize(
    "start",
    [
        "uri: 'timer:tick?period=1500&repeatCount=3'",
        "uri: timer:tick\n    parameters: {period: 1500, repeatCount: 3}",
        "uri: timer\n    parameters: {timerName: tick, period: '1500', repeatCount: '3'}",
        "uri: timer://tick?period=1500\n    parameters: {repeatCount: 3}",
    ],
)
def test_options_stand_in_the_uri_or_in_parameters(start: str) -> None:
    flow = parsed(f"- from:\n    {start}\n    steps: []\n")
    assert flow.routes[0].consumer == Timer(timer_name="tick", period=Period(milliseconds=1500), repeat_count=3)


@pytest.mark.parametrize(
    "uri",
    [
        "quartz:group/daily?cron=0+30+6+?+*+MON-FRI",
        "quartz:group/daily?cron=0%2030%206%20?%20*%20MON-FRI",
        "quartz:group/daily?cron=RAW(0 30 6 ? * MON-FRI)",
    ],
)
def test_a_cron_expression_stands_in_a_uri(uri: str) -> None:
    flow = parsed(f"- from: {{uri: '{uri}', steps: []}}\n")
    assert flow.routes[0].consumer == Quartz(trigger_name="group/daily", cron=Cron.parse("0 30 6 ? * MON-FRI"))


def test_a_step_that_is_disabled_is_checked_and_left_out() -> None:
    flow = parsed(steps("- log: {message: a, disabled: true}\n- log: b"))
    assert len(flow.routes[0].steps) == 1
    assert problems(steps("- log: {messag: a, disabled: true}"))


@pytest.mark.parametrize(
    "expression",
    [
        "{constant: hello}",
        "{expression: {constant: hello}}",
        "{constant: {expression: hello}}",
        "{expression: {constant: {expression: hello, trim: true}}}",
    ],
)
def test_an_expression_stands_beside_the_options_or_below_expression(expression: str) -> None:
    same = parsed(steps("- setBody: {constant: hello}")).routes[0].steps
    assert parsed(steps(f"- setBody: {expression}")).routes[0].steps == same


def test_text_options_take_numbers_and_booleans_as_written() -> None:
    flow = parsed(steps("- to: {uri: exec:job, parameters: {args: [007, yes, 1e3, 2026-01-01, '']}}"))
    step = flow.routes[0].steps[0]
    assert isinstance(step, To)
    assert isinstance(step.endpoint, Exec)
    assert [argument.literal for argument in step.endpoint.args] == ["007", "yes", "1e3", "2026-01-01", ""]


@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        ("route: 1\n", 1, "must be a list of routes"),
        ("[]\n", 1, "must be a list of routes"),
        ("- rest: {}\n", 1, "'rest' is not known (known: errorHandler, from, onException, route, routeConfiguration)"),
        ("- route: {id: a}\n", 1, "option 'from' is missing"),
        (
            "- route:\n    autoStart: true\n    from: {uri: 'timer:a', steps: []}\n",
            2,
            "option 'autoStart' is not known",
        ),
        ("- from:\n    steps: []\n", 1, "needs a `uri`"),
        ("- from:\n    uri: timer:a\n", 1, "option 'steps' is missing"),
        ("- from:\n    uri: timr:a\n    steps: []\n", 2, "'timr' is not known, did you mean 'timer'?"),
        ("- from:\n    uri: log:a\n    steps: []\n", 2, "cannot be used in `from`"),
        ("- from:\n    uri: 'timer'\n    steps: []\n", 2, "timer: option 'timerName' is missing"),
        ("- from:\n    uri: 'timer:a'\n    parameters:\n      perod: 1\n    steps: []\n", 4, "did you mean 'period'?"),
        ("- from:\n    uri: 'timer:a?period=x'\n    steps: []\n", 2, "timer: period: must be milliseconds"),
        ("- from:\n    uri: 'timer:a?period=1'\n    parameters: {period: 2}\n    steps: []\n", 3, "given twice"),
        ("- from:\n    uri: quartz:a\n    parameters:\n      cron: 0 99 * * * ?\n    steps: []\n", 4, "minutes"),
        (steps("- log: a\n- setBodi: {}"), 5, "'setBodi' is not known, did you mean 'setBody'?"),
        (steps("- log: a\n- to: timer:a"), 5, "cannot be used in `to`"),
        (steps("- setBody: {}"), 4, "needs one expression, in one of: constant, exchangeProperty, header"),
        (steps("- setBody: {constant: a, simple: b}"), 4, "needs one expression"),
        (steps("- setBody:\n    expression:\n      groovy: a"), 6, "language 'groovy' is not known"),
        (steps("- setBody:\n    simple: ${bean:a}"), 5, "function '${bean:a}' is not known"),
        (steps("- setBody:\n    constant: '{{host}}'"), 5, "placeholder '{{host}}' is not known"),
        (steps("- log:\n    message: a\n    loggingLevel: LOUD"), 6, "must be one of TRACE, DEBUG, INFO, WARN"),
        (steps("- log:\n    message: [a]"), 5, "must be a single value"),
        (steps("- log:\n    message: {a: b}"), 5, "must be a text"),
        (steps("- log:\n    message:"), 5, "needs a value"),
        (steps("- log: a\n  to: b"), 4, "mapping with exactly one of"),
        (steps("- to: exec:job?timeout=soon"), 4, "exec: timeout: must be milliseconds"),
        (steps("- to: exec:job?args=%22open"), 4, "exec: args: has a quote"),
    ],
)
def test_an_error_names_line_element_and_what_is_known(source: str, line: int, words: str) -> None:
    found = problems(source)
    assert len(found) == 1
    assert found[0][0] == line
    assert words in found[0][1]


def test_everything_that_is_wrong_is_told_at_once() -> None:
    found = problems(
        steps("- setBodi: {}\n- log: {message: a, levl: b}\n- to: kafka:orders\n- setHeader: {constant: b}")
    )
    assert [line for line, _ in found] == [4, 5, 6, 7]


def test_the_error_is_of_the_one_family_and_has_the_lines() -> None:
    with pytest.raises(Invalid) as refused:
        parsed(steps("- setBodi: {}"))
    assert refused.value.errors[0].field == "line 4, column 9"


@pytest.mark.parametrize(
    ("source", "unknown"),
    [
        ("- from: {uri: 'kafka:a', steps: []}\n", Unknown(Family.COMPONENT, "kafka")),
        (steps("- resequence: {}"), Unknown(Family.STEP, "resequence")),
        (steps("- setBody: {groovy: 1 + 1}"), Unknown(Family.LANGUAGE, "groovy")),
        (steps("- split: {xpath: //a, steps: []}"), Unknown(Family.LANGUAGE, "xpath")),
        (steps("- marshal: {protobuf: {}}"), Unknown(Family.DATA_FORMAT, "protobuf")),
        (steps("- split: {simple: '${body}', timeout: 5}"), Unknown(Family.OPTION, "timeout", "split")),
        (
            "- route: {routePolicy: a, from: {uri: 'timer:a', steps: []}}\n",
            Unknown(Family.ROUTE_OPTION, "routePolicy", "route"),
        ),
        ("- beans: []\n", Unknown(Family.ROUTE_OPTION, "beans", "document")),
        (steps("- log: '${bean:a}'"), Unknown(Family.FUNCTION, "bean:a")),
        (steps("- filter: {simple: '${body} === 1', steps: []}"), Unknown(Family.OPERATOR, "===")),
        (steps("- doTry: {doCatch: [{exception: [com.acme.Bad]}]}"), Unknown(Family.EXCEPTION, "com.acme.Bad")),
        (steps("- delay: {constant: 1, disabled: perhaps}"), None),
    ],
)
def test_a_problem_tells_what_is_not_known_here_from_what_is_wrong(source: str, unknown: Unknown | None) -> None:
    with pytest.raises(InvalidFlow) as refused:
        parsed(source)
    found = [problem.unknown for problem in refused.value.problems]
    assert (unknown in found) if unknown is not None else (len(found) >= 1)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (steps("- choice: {when: {simple: '${body}'}}"), "must be a list, each entry beginning with `- `"),
        (steps("- choice: {when: [{steps: []}]}"), "choice: when: needs one expression"),
        (steps("- loop: {simple: '${body} = 1', doWhile: true, steps: []}"), "operator '='"),
        (steps("- python: {}"), "needs either `script` or `expression`"),
        (steps("- python: 'a b'"), "line 1 of the code is not Python"),
        (steps("- marshal: {}"), "needs one data format, in one of: csv, json"),
        ("- errorHandler: {deadLetterChannel: {}}\n", "option 'deadLetterUri' is missing"),
        ("- errorHandler: {deadLetterChannel: {deadLetterUri: 'timer:a'}}\n", "cannot be used in `to`"),
        (
            steps("- log: a") + "- onException: {exception: [java.lang.Exception]}\n",
            "must stand before the first route",
        ),
        ("- route: {routeConfigurationId: a, from: {uri: 'timer:a', steps: []}}\n", "'a' is not in this document"),
    ],
)
def test_steps_with_steps_and_what_holds_for_routes_are_checked(source: str, words: str) -> None:
    assert words in " | ".join(text for _, text in problems(source))


def test_two_routes_cannot_have_one_id() -> None:
    route = "- route: {id: same, from: {uri: 'timer:a', steps: []}}\n"
    assert problems(route * 2) == [(2, "route: id: 'same' is given twice")]


def test_an_option_that_needs_a_variable_waits_for_its_value() -> None:
    source = "- from: {uri: timer:a, parameters: {period: '{{var:PERIOD}}'}, steps: [log: '{{var:GREETING}}']}\n"
    assert parsed(source).needs == {"PERIOD"}
    flow = parse_flow("orders", "1", source, {"PERIOD": "5s"})
    assert flow.needs == frozenset()
    assert flow.routes[0].consumer == Timer(timer_name="a", period=Period(seconds=5))
    assert isinstance(flow.routes[0].steps[0], LogStep)


def test_a_variables_value_is_checked_like_any_other() -> None:
    source = "- from: {uri: 'timer:a?period={{var:PERIOD}}', steps: []}\n"
    with pytest.raises(InvalidFlow, match="timer: period"):
        parse_flow("orders", "1", source, {"PERIOD": "often"})


def test_what_else_is_wrong_is_told_before_variables_are_known() -> None:
    source = "- from: {uri: 'timer:a?period={{var:PERIOD}}', steps: [logg: a]}\n"
    with pytest.raises(InvalidFlow, match="logg"):
        parsed(source)


def routes_or_lines(source: str) -> list[object]:
    try:
        return list(parsed(source).routes)
    except InvalidFlow as refused:
        return [problem.line for problem in refused.problems if problem.line >= 1]


WORDS = (
    "- ", "from", ": ", "\n", "  ", "    ", "uri", "steps", "timer:a", "quartz:b?cron=", "exec:c?", "parameters", "to",
    "setBody", "setHeader", "log", "simple", "constant", "${", "}", "{{", "}}", "[", "]", "'", '"', "&", "=", "name",
)  # fmt: skip


@given(st.lists(st.sampled_from(WORDS), max_size=30).map("".join))
def test_any_text_is_a_flow_or_an_error_with_lines(text: str) -> None:
    assert routes_or_lines(text)


@given(st.text(alphabet="timerquaz:?&=+%RAW(){}/ a1", max_size=40))
def test_any_uri_is_an_endpoint_or_an_error(uri: str) -> None:
    assert routes_or_lines(f"- from: {{uri: '{uri}', steps: []}}\n")
