"""Parameters that documents declare, and the check of the values that runs get."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.engine.documents.analysis import analyze
from penstock.engine.documents.parameters import Given, Parameter, check_values, parameters_of
from penstock.engine.documents.python_code import assignments, parameters_block, with_values
from penstock.engine.documents.reading import read_document
from penstock.engine.documents.types import fits, known_type, type_of_value
from penstock.kernel.errors import Invalid
from tests.unit.test_documents import sample

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(), children, max_size=3),
    max_leaves=8,
)


def parameters(text: str, name: str | None = None) -> list[Parameter]:
    return parameters_of(read_document(text, name))


def test_values_are_parameters_with_their_value_as_default() -> None:
    assert parameters(sample("weather.dib")) == [
        Parameter("city", "string", '"Bern"'),
        Parameter("readings", "array", "[12.5, 14, -3]"),
    ]


def test_questions_are_parameters_that_every_run_must_give() -> None:
    assert parameters(sample("asks.dib")) == [
        Parameter("user", "string", required=True),
        Parameter("token", "string", required=True),
    ]


@pytest.mark.parametrize(("name", "count"), [("sales.ipynb", 2), ("report.py", 2)])
def test_assignments_of_a_tagged_cell_are_parameters(name: str, count: int) -> None:
    assert len(parameters(sample(name), name)) == count


def test_annotations_give_types_and_missing_values_make_parameters_required() -> None:
    found = parameters("# parameters\na: int\nb: float = 1\nc: list[str] = None\nd = f()\ne: 'str'\n\nnone = 1\n")
    assert found == [
        Parameter("a", "integer", required=True),
        Parameter("b", "number", "1"),
        Parameter("c", "array", "null"),
        Parameter("d", "any"),
        Parameter("e", "string", required=True),
    ]


@given(st.text(), json_values)
def test_a_value_of_any_kind_replaces_the_one_in_the_code(other: str, value: Any) -> None:
    text = f"# parameters\nx = [1,\n 2]; y = {other!r}\nz: int\nprint(x)\n"
    block = parameters_block(text, tagged=False)
    changed = with_values(text, block, {"x": value, "z": value})
    variables: dict[str, Any] = {}
    exec(changed.replace("print(x)", ""), variables)
    assert (variables["x"], variables["z"], variables["y"]) == (value, value, other)


def test_code_below_the_block_is_left_alone() -> None:
    text = "# parameters\nx = 1\n\nx = 2\n"
    assert with_values(text, parameters_block(text, tagged=False), {"x": 3}) == "# parameters\nx = 3\n\nx = 2\n"


def test_code_that_python_cannot_read_declares_nothing() -> None:
    assert assignments("x = (") == []


def test_given_values_go_before_defaults() -> None:
    known = [Parameter("a", "integer", "1"), Parameter("b", "any")]
    assert check_values(known, [Given("a", "2")], {"a": "1"}) == {"a": 2}
    assert check_values(known, [], {"a": "1"}) == {"a": 1}
    assert check_values(known, [Given("b", '{"x": null}')]) == {"b": {"x": None}}


def test_every_problem_of_the_values_is_told_at_once() -> None:
    known = [Parameter("a", "integer"), Parameter("b", "string", required=True), Parameter("c", "any")]
    given_ = [
        Given("a", "1.5", field="Parameters[0]"),
        Given("b", "text", field="Parameters[1]"),
        Given("d", "1", field="Parameters[2]"),
        Given("c", "1", "System.String", "Parameters[3]"),
    ]
    with pytest.raises(Invalid) as refused:
        check_values(known, given_)
    assert [error.field for error in refused.value.errors] == [each.field for each in given_]


def test_a_missing_value_is_named() -> None:
    with pytest.raises(Invalid, match="needed for b"):
        check_values([Parameter("b", "string", required=True)], [])


@given(json_values)
def test_every_value_is_of_its_own_type(value: Any) -> None:
    assert fits(value, type_of_value(value))
    assert fits(value, "any")


@pytest.mark.parametrize(("value", "type"), [(True, "integer"), (1.0, "integer"), ("1", "number"), ([], "object")])
def test_values_of_another_type_do_not_fit(value: Any, type: str) -> None:
    assert not fits(value, type)


@pytest.mark.parametrize(
    ("name", "type"),
    [("System.Int32", "integer"), ("str", "string"), ("number", "number"), ("Foo", "any"), ("", "any")],
)
def test_types_go_by_several_names(name: str, type: str) -> None:
    assert known_type(name) == type


def test_questions_become_values_in_the_updated_document() -> None:
    analysis = analyze(sample("asks.dib"))
    assert analysis.source == sample("asks.dib")
    assert '#!value --name user --from-value @input:"Who is it?"' in analysis.updated
    assert "--value @value:user" in analysis.updated
    again = analyze(analysis.updated)
    assert again.updated == analysis.updated
    assert {parameter.name for parameter in again.parameters} == {"user", "token"}


def test_questions_in_a_jupyter_notebook_become_values_and_the_rest_stays_as_it_is_written() -> None:
    source = sample("asks.ipynb")
    analysis = analyze(source, "asks.ipynb")
    head, _, first = analysis.updated.partition('"cells": [\n\t')
    assert source.startswith(head)
    assert '#!value --name user --from-value @input:\\"Who is it?\\""}, {"cell_type": "markdown"' in first
    assert '"#!set --name user --value @value:user\\n",\n\t   "user + \\"\\\\u00e9\\""' in first
    assert '{"a":1e5}, "source": "Ca\\u0066\\u00e9"}' in first
    again = analyze(analysis.updated, "asks.ipynb")
    assert [parameter.name for parameter in again.parameters] == ["user"]
    assert again.updated == analysis.updated


def test_questions_have_the_type_that_their_hint_names() -> None:
    analysis = analyze(sample("typed.dib"))
    assert {parameter.name: parameter.type for parameter in analysis.parameters} == {
        "amount": "number",
        "day": "date",
        "at": "date-time",
        "gift": "boolean",
        "rows": "any",
        "column": "string",
        "shade": "string",
    }
    again = analyze(analysis.updated).parameters
    assert {(each.name, each.type) for each in again} == {(each.name, each.type) for each in analysis.parameters}


@pytest.mark.parametrize(
    ("type", "good", "bad"),
    [
        ("date", '"2026-03-31"', '"31.3.2026"'),
        ("date-time", '"2026-03-31T09:30:00Z"', '"soon"'),
        ("time", '"09:30"', "930"),
        ("number", "1.5", '"1.5"'),
        ("boolean", "true", "1"),
    ],
)
def test_values_must_have_the_form_of_their_type(type: str, good: str, bad: str) -> None:
    declared = [Parameter("x", type, required=True)]
    assert "x" in check_values(declared, [Given("x", good)])
    with pytest.raises(Invalid, match=f"'x' must be of type {type}"):
        check_values(declared, [Given("x", bad)])


@pytest.mark.parametrize("name", ["weather.dib", "sales.ipynb", "report.py", "odd.dib", "empty.dib"])
def test_documents_without_questions_stay_as_they_are(name: str) -> None:
    assert analyze(sample(name), name).updated == sample(name)


@pytest.mark.parametrize(
    ("text", "type"),
    [
        ("1", "integer"),
        ("'a' f'b'", "string"),
        ("x = 1", None),
        ("x = 1\nx", "integer"),
        ("x", "any"),
        ("1;", None),
        ("a < b", "boolean"),
        ("", None),
        ("#!markdown\n1", None),
        ("#!csharp\n1", "any"),
        ("#!html\n<b/>", "string"),
        ("[x for x in y]", "array"),
    ],
)
def test_the_type_of_the_result_is_what_the_last_line_tells(text: str, type: str | None) -> None:
    assert analyze(text).returns == type


def test_defaults_are_json() -> None:
    for name in ("weather.dib", "sales.ipynb", "report.py"):
        for parameter in parameters(sample(name), name):
            assert parameter.default is not None
            msgspec.json.decode(parameter.default)
