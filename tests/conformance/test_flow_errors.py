"""What flows do about errors: doTry, onException, redelivery, dead letters."""

import pytest

from tests.conformance.running_engine import RunningEngine, running_engine
from tests.conformance.timed_flows import timer

ONCE = "delay=0&repeatCount=1"
THROW = "throwException: {exceptionType: java.lang.IllegalArgumentException, message: 'bad ${body}'}"


async def ended(source: str) -> tuple[list[str], int]:
    """What a flow logs for one message, at INFO, and how many exchanges fail."""
    async with running_engine() as running:
        await running.start("errors", source)
        await running.settled("errors")
        failed = running.engine.status("errors").statistics.exchanges_failed
        return infos(running), failed


def infos(running: RunningEngine) -> list[str]:
    return [line.message for line in running.listener.lines if line.level == "INFO"]


def on_exception(name: str, options: str, *steps: str) -> str:
    return f"- onException: {{exception: [{name}], {options}steps: [{', '.join(steps)}]}}\n"


async def test_a_caught_error_is_over_and_finally_comes_in_any_case() -> None:
    attempt = (
        f"doTry: {{steps: [{THROW}], doCatch: [{{exception: [java.io.IOException], steps: [log: wrong]}}, "
        "{exception: [java.lang.RuntimeException], steps: [log: 'caught ${exception.message}']}], "
        "doFinally: {steps: [log: finally]}}"
    )
    assert await ended(timer(ONCE, attempt, "log: after")) == (["caught bad ", "finally", "after"], 0)


async def test_an_error_that_no_clause_names_goes_on_after_finally() -> None:
    attempt = (
        f"doTry: {{steps: [{THROW}], doCatch: [{{exception: [java.io.IOException], steps: [log: wrong]}}], "
        "doFinally: {steps: [log: finally]}}"
    )
    assert await ended(timer(ONCE, attempt, "log: never")) == (["finally"], 1)


async def test_within_do_try_no_error_handler_looks_at_errors() -> None:
    source = on_exception("java.lang.Exception", "handled: {constant: 'true'}, ", "log: wrong") + timer(
        ONCE, f"doTry: {{steps: [{THROW}], doCatch: [{{exception: [java.lang.Exception], steps: [log: caught]}}]}}"
    )
    assert await ended(source) == (["caught"], 0)


@pytest.mark.parametrize(
    ("options", "lines", "failed"),
    [
        ("", ["seen bad x"], 1),
        ("handled: {constant: 'true'}, ", ["seen bad x"], 0),
        ("continued: {constant: 'true'}, ", ["seen bad x", "after x"], 0),
        ("onWhen: {simple: '${body} == 1'}, handled: {constant: 'true'}, ", [], 1),
    ],
)
async def test_on_exception_handles_continues_or_only_looks(options: str, lines: list[str], failed: int) -> None:
    source = on_exception("java.lang.Exception", options, "log: 'seen ${exception.message}'")
    source += timer(ONCE, "setBody: {constant: x}", THROW, "log: 'after ${body}'")
    assert await ended(source) == (lines, failed)


async def test_the_nearest_exception_counts() -> None:
    handled = "handled: {constant: 'true'}, "
    source = on_exception("java.lang.Exception", handled, "log: any")
    source += on_exception("java.lang.IllegalArgumentException", handled, "log: own")
    source += on_exception("java.lang.RuntimeException", handled, "log: runtime") + timer(ONCE, THROW)
    assert await ended(source) == (["own"], 0)


async def test_a_step_is_done_again_with_the_message_that_it_had() -> None:
    policy = "redeliveryPolicy: {maximumRedeliveries: 2, redeliveryDelay: 1}, handled: {constant: 'true'}, "
    sub = f"- from: {{uri: 'direct:sub', steps: [log: 'try ${{header.CamelRedeliveryCounter}}', {THROW}]}}\n"
    source = on_exception("java.lang.Exception", policy, "log: 'gave up'") + sub
    source += timer(ONCE, "setBody: {constant: x}", "to: direct:sub", "log: never")
    assert await ended(source) == (["try ", "gave up"], 0)


async def test_a_step_that_goes_well_the_next_time_ends_the_trouble(tmp_path: object) -> None:
    mark = f"{tmp_path}/mark"
    source = (
        "- errorHandler: {defaultErrorHandler: {redeliveryPolicy: {maximumRedeliveries: 3, redeliveryDelay: 1}}}\n"
        + timer(ONCE, f"to: 'exec:sh?exitValues=0&args=-c \"rm {mark} || (touch {mark}; exit 1)\"'",
                "log: 'after ${header.CamelRedeliveryCounter}'")
    )  # fmt: skip
    assert await ended(source) == (["after 1"], 0)


async def test_a_dead_letter_is_handed_on_as_it_began_and_counts_as_dealt_with() -> None:
    source = (
        "- errorHandler: {deadLetterChannel: {deadLetterUri: 'direct:dead', useOriginalMessage: true}}\n"
        "- from: {uri: 'direct:dead', steps: [log: 'dead ${body} ${exception.message}']}\n"
    ) + timer(ONCE, "setBody: {constant: x}", THROW, "log: never")
    assert await ended(source) == (["dead  bad x"], 0)


async def test_a_route_without_error_handler_leaves_errors_to_its_caller() -> None:
    source = on_exception("java.lang.Exception", "handled: {constant: 'true'}, ", "log: 'handled in ${routeId}'")
    source += (
        f"- route: {{id: sub, errorHandler: {{noErrorHandler: {{}}}}, from: {{uri: 'direct:sub', steps: [{THROW}]}}}}\n"
    )
    source += "- route:\n    id: main\n    " + timer(ONCE, "to: direct:sub")[2:].replace("\n", "\n    ").rstrip() + "\n"
    assert await ended(source) == (["handled in main"], 0)


async def test_what_a_named_configuration_says_holds_for_the_routes_that_name_it() -> None:
    source = (
        "- routeConfiguration: {id: careful, onException: [onException: {exception: [java.lang.Exception], "
        "handled: {constant: 'true'}, steps: [log: handled]}]}\n"
        "- route: {id: main, routeConfigurationId: careful, from: {uri: 'timer:t?delay=0&repeatCount=1', "
        f"steps: [{THROW}]}}}}\n"
    )
    assert await ended(source) == (["handled"], 0)


@pytest.mark.parametrize(("stops", "seen"), [("true", ["1", "2"]), ("false", ["1", "2", "3"])])
async def test_a_part_that_fails_lets_the_split_fail_at_once_or_at_the_end(stops: str, seen: list[str]) -> None:
    fail = "filter: {simple: '${body} == 2', steps: [throwException: {exceptionType: java.io.IOException, message: n}]}"
    split = f"split: {{constant: '1,2,3', stopOnException: {stops}, steps: [log: '${{body}}', {fail}]}}"
    caught = f"doTry: {{steps: [{split}], doCatch: [{{exception: [java.io.IOException], steps: [log: caught]}}]}}"
    assert await ended(timer(ONCE, caught)) == ([*seen, "caught"], 0)


@pytest.mark.parametrize("branches", [f"{THROW}, log: last", f"log: last, {THROW}"])
async def test_an_error_that_was_handled_in_a_branch_of_a_multicast_ends_the_exchange(branches: str) -> None:
    source = on_exception("java.lang.Exception", "handled: {constant: 'true'}, ", "log: handled")
    lines, failed = await ended(source + timer(ONCE, f"multicast: {{steps: [{branches}]}}", "log: never"))
    assert (sorted(lines), failed) == (["handled", "last"], 0)


async def test_finally_sees_the_error_that_goes_on() -> None:
    again = "throwException: {exceptionType: java.io.IOException, message: from catch}"
    attempt = (
        f"doTry: {{steps: [{THROW}], doCatch: [{{exception: [java.lang.Exception], steps: [{again}]}}], "
        "doFinally: {steps: [log: '${exception.message}']}}"
    )
    assert await ended(timer(ONCE, attempt)) == (["from catch"], 1)


async def test_an_error_in_the_steps_of_on_exception_takes_its_place() -> None:
    again = "throwException: {exceptionType: java.io.IOException, message: worse}"
    source = on_exception("java.lang.IllegalArgumentException", "handled: {constant: 'true'}, ", again)
    async with running_engine() as running:
        await running.start("errors", source + timer(ONCE, THROW))
        await running.settled("errors")
        assert running.engine.status("errors").error == "worse"
