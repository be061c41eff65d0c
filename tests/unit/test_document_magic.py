"""Magic commands of .dib documents."""

import pytest

from penstock.engine.documents.magic import Code, Magic, Reference, parse_magic, parts_of
from penstock.kernel.errors import Invalid


def magic(line: str) -> Magic:
    found = parse_magic(line)
    assert found is not None
    return found


def test_options_and_words_are_told_apart() -> None:
    found = magic('#!share --from csharp total --as "the total"\r\n')
    assert found.name == "share"
    assert found.options == {"from": "csharp", "as": "the total"}
    assert found.words == ("total",)


@pytest.mark.parametrize("line", ["#! python", "#!/usr/bin/env python", "# !x", "x #!y", "#!"])
def test_other_lines_are_code(line: str) -> None:
    assert parse_magic(line) is None


@pytest.mark.parametrize(
    ("text", "source", "name", "asks"),
    [
        ("@input", "input", "input", True),
        ("@input:city", "input", "city", True),
        ('@input:"Which city?"', "input", "Which city?", True),
        ('@input:{"prompt": "City", "saveAs": "city"}', "input", "city", True),
        ('@password:{"prompt": "Token"}', "password", "Token", True),
        ("@csharp:total", "csharp", "total", False),
    ],
)
def test_references_say_who_gives_the_value(text: str, source: str, name: str, asks: bool) -> None:
    value = magic(f"#!set --name x --value {text}").options["value"]
    assert isinstance(value, Reference)
    assert (value.source, value.name, value.asks) == (source, name, asks)


def test_a_value_without_one_of_its_own_takes_the_lines_below() -> None:
    parts = list(parts_of("a\n#!value --name v\n1\n2\n#!time\nb\n"))
    assert parts[0] == Code("a\n")
    assert isinstance(parts[1], Magic)
    assert parts[1].content == "1\n2"
    assert isinstance(parts[2], Magic)
    assert parts[3] == Code("b\n")


def test_a_value_of_its_own_leaves_the_lines_below_to_the_kernel() -> None:
    parts = list(parts_of("#!value --name v --from-value 1\nprint(v)"))
    assert parts[1] == Code("print(v)")


def test_a_missing_option_is_named() -> None:
    with pytest.raises(Invalid, match="--name"):
        magic("#!value").needed("name")
