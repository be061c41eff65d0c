"""A flow's elements decide which engine runs it."""

import pytest

from penstock.flow.choice import EngineKind, choose
from penstock.flow.parsing.problem import InvalidFlow
from penstock.kernel.errors import Invalid

_NATIVE = '- from: {uri: "timer:x?period=1s", steps: [{log: "a"}]}'
_CAMEL = '- from:\n    uri: kafka:orders\n    steps:\n      - throttle: {constant: "1"}\n'
_NEITHER = '- from: {uri: "kafak:orders", steps: []}'
_WRONG_VALUE = '- from: {uri: "timer:x?period=often", steps: []}'


def test_a_flow_whose_elements_are_all_native_runs_natively() -> None:
    choice = choose("f", "1", _NATIVE)
    assert choice.engine is EngineKind.NATIVE
    assert choice.definition.routes


def test_a_flow_with_an_element_of_camel_alone_runs_on_camel_and_tells_which() -> None:
    choice = choose("f", "1", _CAMEL)
    assert choice.engine is EngineKind.CAMEL
    assert choice.definition.source == _CAMEL
    assert "line 2: component 'kafka'" in choice.reasons
    assert choice.without_camel.startswith("needs the engine Camel for line 2: component 'kafka'")
    assert choice.without_camel.endswith("`penstock engine install camel`")


def test_a_flow_that_no_engine_knows_is_refused_with_line_and_nearest_name() -> None:
    with pytest.raises(InvalidFlow) as refused:
        choose("f", "1", _NEITHER)
    [problem] = refused.value.problems
    assert problem.line == 1
    assert "'kafak' is not known, did you mean 'kafka'?" in problem.message


def test_a_wrong_value_of_a_native_element_is_refused_and_not_left_to_camel() -> None:
    with pytest.raises(InvalidFlow, match="period"):
        choose("f", "1", _WRONG_VALUE)


def test_a_native_flow_runs_on_camel_when_it_is_asked_for() -> None:
    choice = choose("f", "1", _NATIVE, "camel")
    assert choice.engine is EngineKind.CAMEL
    assert not choice.definition.routes
    assert "penstock.engine asks for it" in choice.without_camel


def test_a_flow_of_camel_cannot_be_made_native() -> None:
    with pytest.raises(InvalidFlow, match="kafka"):
        choose("f", "1", _CAMEL, "native")


def test_another_engine_is_refused() -> None:
    with pytest.raises(Invalid, match="must be native or camel"):
        choose("f", "1", _NATIVE, "mule")


def test_a_flow_of_schedules_is_native() -> None:
    source = '- from: {uri: "quartz:s?cron=0+0+12+*+*+1-5", steps: [{to: "exec:echo"}]}'
    assert choose("f", "1", source).engine is EngineKind.NATIVE
