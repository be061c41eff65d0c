"""Steps as flows use them: what becomes of the message, in which order, and what is left out."""

import pytest

from tests.conformance.running_engine import eventually, running_engine
from tests.conformance.timed_flows import timer


async def logged(*steps: str, routes: str = "") -> list[str]:
    """What a flow logs that takes one message through the steps."""
    async with running_engine() as running:
        await running.start("steps", routes + timer("delay=0&repeatCount=1", *steps))
        await running.settled("steps")
        return list(running.listener.messages)


@pytest.mark.parametrize(
    ("steps", "lines"),
    [
        (["setHeaders: {headers: [{name: a, constant: x}, {name: b, simple: '${header.a}y'}]}", "log: '${headers}'"],
         ["{a=x, b=xy}"]),
        (["setProperty: {name: p, constant: x}", "removeProperty: p", "log: '<${exchangeProperty.p}>'"], ["<>"]),
        (["setVariable: {name: v, constant: x}", "log: '${variable.v}'", "removeVariable: v", "log: '<${variable.v}>'"],
         ["x", "<>"]),
        (["setHeader: {name: a1, constant: x}", "setHeader: {name: a2, constant: x}",
          "setHeader: {name: b, constant: x}", "removeHeaders: {pattern: 'a*', excludePattern: A2}", "removeHeader: b",
          "log: '${headers}'"], ["{a2=x}"]),
        (["setBody: {constant: a}", "transform: {simple: '${body}b'}", "log: '${body}'"], ["ab"]),
        (["pipeline: {steps: [log: a, stop: {}, log: b]}", "log: c"], ["a"]),
        (["filter: {simple: '${body} == null', steps: [log: inner]}", "log: after"], ["inner", "after"]),
        (["filter: {simple: '${body} != null', steps: [log: inner]}", "log: after"], ["after"]),
        (["setBody: {constant: x}", "delay: {constant: 1}", "log: '${body}'"], ["x"]),
        (["setHeader: {name: to, constant: out}", "toD: 'log:${header.to}?showBodyType=false'"],
         ["Exchange[Body: [Body is null]]"]),
        (["toD: {uri: 'log:a', parameters: {plain: 'true'}}"], ["[Body is null]"]),
    ],
)  # fmt: skip
async def test_a_step_does_what_it_says(steps: list[str], lines: list[str]) -> None:
    assert await logged(*steps) == lines


@pytest.mark.parametrize(("number", "line"), [("1", "one"), ("2", "two"), ("3", "other")])
async def test_choice_takes_the_first_branch_that_holds(number: str, line: str) -> None:
    choice = (
        "choice: {when: [{simple: '${body} == 1', steps: [log: one]}, {simple: '${body} <= 2', steps: [log: two]}], "
        "otherwise: {steps: [log: other]}}"
    )
    assert await logged(f"setBody: {{constant: '{number}'}}", choice, "log: after") == [line, "after"]


async def test_split_takes_each_part_through_its_steps_and_goes_on_with_the_message_as_it_was() -> None:
    line = "${exchangeProperty.CamelSplitIndex}/${exchangeProperty.CamelSplitSize} ${body}"
    split = f"split: {{simple: '${{body}}', steps: [log: '{line}', setBody: {{constant: gone}}]}}"
    assert await logged("setBody: {constant: 'a,b,,c,'}", split, "log: '${body}'") == [
        "0/4 a", "1/4 b", "2/4 ", "3/4 c", "a,b,,c,",
    ]  # fmt: skip


async def test_split_while_streaming_knows_the_number_of_parts_at_the_last_one() -> None:
    line = "${exchangeProperty.CamelSplitSize}|${exchangeProperty.CamelSplitComplete}"
    split = f"split: {{tokenize: '-', streaming: true, steps: [log: '{line}']}}"
    assert await logged("setBody: {constant: 'a-b-c'}", split) == ["|false", "|false", "3|true"]


@pytest.mark.parametrize(
    ("expression", "parts"),
    [
        ("jsonpath: '$.items[*].n'", ["1", "2"]),
        ("jsonpath: '$.items'", ["{n=1}", "{n=2}"]),
        ("jsonpath: '$.items[0]'", ["n=1"]),
        ("simple: '${header.absent}'", []),
        ("constant: whole, delimiter: 'false'", ["whole"]),
        ("constant: 'a;b', delimiter: ';'", ["a", "b"]),
    ],
)
async def test_split_finds_the_parts_of_lists_and_texts(expression: str, parts: list[str]) -> None:
    body = """setBody: {constant: '{"items":[{"n":1},{"n":2}]}'}"""
    found = await logged(body, f"split: {{{expression}, steps: [log: '${{body}}']}}")
    assert [line.strip("{}") for line in found] == [part.strip("{}") for part in parts]


async def test_split_side_by_side_takes_every_part() -> None:
    parts = ",".join(str(number) for number in range(25))
    split = "split: {simple: '${body}', parallelProcessing: true, steps: [delay: {constant: 1}, log: '${body}']}"
    assert sorted(await logged(f"setBody: {{constant: '{parts}'}}", split), key=int) == parts.split(",")


async def test_multicast_gives_each_step_a_copy_and_goes_on_with_the_last_ones_message() -> None:
    steps = "[setBody: {constant: first}, log: '${body}', setBody: {constant: last}]"
    assert await logged("setBody: {constant: x}", f"multicast: {{steps: {steps}}}", "log: '${body}'") == ["x", "last"]


@pytest.mark.parametrize(("copy", "body"), [("false", "x-0-1-2"), ("true", "x-2")])
async def test_loop_counts_its_rounds(copy: str, body: str) -> None:
    add = "setBody: {simple: '${body}-${exchangeProperty.CamelLoopIndex}'}"
    loop = f"loop: {{constant: '3', copy: {copy}, steps: [{add}]}}"
    assert await logged("setBody: {constant: x}", loop, "log: '${body}'") == [body]


async def test_loop_goes_on_for_as_long_as_its_condition_holds() -> None:
    loop = "loop: {simple: '${body} < 4', doWhile: true, steps: [setBody: {simple: '${body}++'}]}"
    assert await logged("setBody: {constant: '1'}", loop, "log: '${body}'") == ["4"]


async def test_a_wire_tap_gets_a_copy_that_goes_its_own_way() -> None:
    sub = "- from: {uri: 'direct:tap', steps: [log: 'tapped ${body}', setBody: {constant: y}]}\n"
    async with running_engine() as running:
        source = sub + timer("delay=0&repeatCount=1", "setBody: {constant: x}", "wireTap: direct:tap", "log: '${body}'")
        await running.start("tap", source)
        await eventually(lambda: len(running.listener.lines) == 2)
    assert sorted(running.listener.messages) == ["tapped x", "x"]


async def test_stop_ends_the_exchange_in_all_routes() -> None:
    sub = "- from: {uri: 'direct:sub', steps: [log: sub, stop: {}, log: never]}\n"
    assert await logged("to: direct:sub", "log: never", routes=sub) == ["sub"]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("json: {}", '{"a":[1,2.5,null],"b":{"c":"ü"}}'),
        ("json: {prettyPrint: true}", '{\n  "a" : [ 1, 2.5, null ],\n  "b" : {\n    "c" : "ü"\n  }\n}'),
    ],
)
async def test_json_is_read_and_written(written: str, read: str) -> None:
    body = """setBody: {constant: '{"a": [1, 2.5, null], "b": {"c": "ü"}}'}"""
    assert await logged(body, "unmarshal: {json: {}}", f"marshal: {{{written}}}", "log: '${body}'") == [read]


async def test_csv_is_read_and_written() -> None:
    read = "unmarshal: {csv: {useMaps: true, delimiter: ';'}}"
    body = 'setBody: {constant: "n;t\\n1;\\"a;b\\"\\n2;c"}'
    lines = await logged(body, read, "log: '${body}'", "marshal: {csv: {}}", "log: '${body}'")
    assert lines == ["[{n=1, t=a;b}, {n=2, t=c}]", "1,a;b\r\n2,c\r\n"]


async def test_what_is_not_json_fails_with_an_exception_that_can_be_caught() -> None:
    attempt = (
        "doTry: {steps: [setBody: {constant: '{'}, unmarshal: {json: {}}], doCatch: [{exception: "
        "[com.fasterxml.jackson.core.JsonParseException], steps: [log: '${exception.message}']}]}"
    )
    assert (await logged(attempt))[0].startswith("the body is not JSON")
