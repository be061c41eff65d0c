"""Texts with variables: `{{var:NAME}}`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.flow.text import Text, written
from penstock.flow.variables import SecretExposed, Variable, Variables
from penstock.kernel.errors import NotFound

VALUES = {"HOST": Variable("db.example"), "PASSWORD": Variable("s3cret", is_secret=True), "EMPTY": Variable("")}

PIECES = ("{{", "}}", "{", "}", "\\", "{{var:", "HOST", "{{var:HOST}}", "${body}", "#{", "a", " ", "\n")
tricky = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)


async def resolve(name: str) -> Variable:
    if name not in VALUES:
        raise NotFound.of("variable", name)
    return VALUES[name]


@pytest.fixture
def variables() -> Variables:
    return Variables(resolve)


async def test_a_variable_is_replaced_by_its_value(variables: Variables) -> None:
    assert await Text.parse("tcp://{{var:HOST}}:5432/{{var:EMPTY}}").resolve(variables) == "tcp://db.example:5432/"


async def test_a_variables_value_is_not_read_again() -> None:
    async def braces(name: str) -> Variable:
        return Variable("{{var:OTHER}} ${body}")

    assert await Text.parse("{{var:ANY}}").resolve(Variables(braces)) == "{{var:OTHER}} ${body}"


async def test_a_variable_that_does_not_exist_is_named(variables: Variables) -> None:
    with pytest.raises(NotFound, match="'NOBODY'"):
        await Text.parse("{{var:NOBODY}}").resolve(variables)


@pytest.mark.parametrize("text", ["{{host}}", "a {{", "{{var:}}", "{{var:-x}}", "{{var:HOST}", "{{ var:HOST }}"])
def test_a_placeholder_of_another_kind_is_refused_with_what_is_allowed(text: str) -> None:
    with pytest.raises(ValueError, match=r"\{\{var:NAME\}\}"):
        Text.parse(text)


@pytest.mark.parametrize(
    ("source", "plain"),
    [
        (r"\{{.Names}}", "{{.Names}}"),
        (r"\{{var:HOST}}", "{{var:HOST}}"),
        (r"\\\{{", r"\{{"),
        (r"a\b\\c", r"a\b\\c"),
        ("}} ${body} #{x}", "}} ${body} #{x}"),
    ],
)
def test_a_backslash_makes_braces_plain_text(source: str, plain: str) -> None:
    assert Text.parse(source).literal == plain


async def test_two_backslashes_before_a_variable_are_one(variables: Variables) -> None:
    assert await Text.parse(r"\\{{var:HOST}}").resolve(variables) == r"\db.example"


@given(st.one_of(tricky, st.text()))
def test_the_written_form_reads_as_exactly_the_text_with_its_variables(text: str) -> None:
    assert str(Text.parse(written(text))) == text


@given(st.one_of(tricky, st.text()).filter(lambda text: "{{var:" not in text))
def test_the_written_form_of_a_text_without_variables_is_that_text(text: str) -> None:
    assert Text.parse(written(text)).literal == text


async def test_a_secret_is_refused_where_others_could_read_it(variables: Variables) -> None:
    with pytest.raises(SecretExposed) as refused:
        await Text.parse("--password={{var:PASSWORD}}").resolve_public(variables, "an argument")
    assert "'PASSWORD'" in str(refused.value)
    assert "an argument" in str(refused.value)
    assert "s3cret" not in str(refused.value)


async def test_a_secret_that_was_used_is_masked_in_what_people_read(variables: Variables) -> None:
    assert await Text.parse("{{var:PASSWORD}}").resolve(variables) == "s3cret"
    assert variables.masked("login with s3cret failed") == "login with ****** failed"


def test_a_secrets_value_is_not_in_its_representation() -> None:
    assert "s3cret" not in repr(VALUES["PASSWORD"])
