"""Reading YAML into nodes with positions."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from penstock.flow.parsing.document import Mapping, Node, Scalar, Sequence, read_document
from penstock.flow.parsing.problem import Problem, Problems

plain = st.recursive(
    st.one_of(st.text(max_size=20), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=8), inner, max_size=4)),
    max_leaves=12,
)


def value(node: Node) -> object:
    if isinstance(node, Scalar):
        return None if node.null else node.text
    if isinstance(node, Sequence):
        return [value(item) for item in node.items]
    return {key.text: value(item) for key, item in node.entries}


def problem_of(text: str) -> Problem:
    problems: Problems = []
    read_document(text, problems)
    assert len(problems) == 1
    return problems[0]


@given(plain)
def test_a_document_reads_as_what_was_written(written: object) -> None:
    problems: Problems = []
    node = read_document(yaml.safe_dump(written), problems)
    assert problems == []
    assert node is not None
    assert value(node) == written


def test_nodes_know_their_line_and_column() -> None:
    root = read_document("- a: 1\n  bcd:\n    - x\n", [])
    assert isinstance(root, Sequence)
    entry = root.items[0]
    assert isinstance(entry, Mapping)
    (_, first), (key, inner) = entry.entries
    assert (first.line, first.column) == (1, 6)
    assert (key.line, key.column) == (2, 3)
    assert (inner.line, inner.column) == (3, 5)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: [1", 2, "not YAML"),
        ("a: 1\nb: {x\n", 3, "not YAML"),
        ("\x01", 1, "not YAML"),
        ("a: 1\n---\nb: 2\n", 1, "one YAML document"),
        ("", 1, "one YAML document"),
        ("a: &x 1\nb: *x\n", 2, "alias"),
        ("a: &x [*x]\n", 1, "alias"),
        ("? [a]\n: 1\n", 1, "plain text"),
        ("a: 1\nb: 2\na: 3\n", 3, "given twice"),
    ],
)
def test_what_is_no_document_is_told_with_its_line(text: str, line: int, words: str) -> None:
    problem = problem_of(text)
    assert problem.line == line
    assert words in problem.message


@pytest.mark.parametrize("brackets", ["[", "{a: ", "- "])
def test_deep_nesting_is_refused_and_does_not_end_the_process(brackets: str) -> None:
    assert "nested deeper" in problem_of(brackets * 100_000).message


@given(st.text(alphabet="[]{}:-,&*!|>'\"%@`#?~ \n\tab0", max_size=60))
def test_any_text_is_a_document_or_a_problem(text: str) -> None:
    problems: Problems = []
    node = read_document(text, problems)
    assert node is not None or problems
