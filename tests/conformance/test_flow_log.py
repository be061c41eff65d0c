"""`log`: what the lines of a flow's log show of a message."""

from tests.conformance.flow_sources import once
from tests.conformance.running_engine import running_engine


async def shown(options: str, body: str | None = "hi\nthere") -> str:
    async with running_engine() as running:
        header = "setHeader: {name: n, constant: '1'}"
        source = once(
            header, *([] if body is None else [f"setBody: {{constant: {body!r}}}"]), f"to: 'log:out?{options}'"
        )
        await running.start("logging", source.replace("'hi\\nthere'", '"hi\\nthere"'))
        await running.settled("logging")
        return running.listener.messages[0]


async def test_a_line_shows_type_and_body_unless_told_otherwise() -> None:
    assert await shown("") == "Exchange[BodyType: String, Body: hithere]"
    assert await shown("skipBodyLineSeparator=false") == "Exchange[BodyType: String, Body: hi\nthere]"
    assert await shown("showBodyType=false&showBody=false&showHeaders=true") == "Exchange[Headers: {n=1}]"


async def test_a_line_may_be_the_body_alone() -> None:
    assert await shown("plain=true") == "hi\nthere"
    assert await shown("plain=true", body=None) == "[Body is null]"


async def test_a_line_may_show_all_there_is() -> None:
    line = await shown("showAll=true")
    assert line.startswith("Exchange[Id: ")
    assert line.endswith(
        ", RouteId: logging, ExchangePattern: InOnly, Properties: {}, Headers: {n=1}, BodyType: String, Body: hithere]"
    )


async def test_each_thing_may_have_a_line_of_its_own() -> None:
    assert await shown("multiline=true&showHeaders=true") == (
        "Exchange[\n  Headers: {n=1}\n  BodyType: String\n  Body: hithere\n]"
    )


async def test_a_line_is_cut_where_the_flow_says() -> None:
    assert await shown("maxChars=10") == "Exchange[BodyType: ...]"
