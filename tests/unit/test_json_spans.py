"""Values are found in a text of JSON where they stand, however it is written."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from penstock.engine.documents.json_spans import EACH, spans

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(), children, max_size=3),
    max_leaves=8,
)
space = st.text(" \t\r\n", max_size=3)


def found(text: str, *path: object) -> list[Any]:
    return [json.loads(text[start:end]) for start, end in spans(text, path)]


@given(st.lists(values), space, space, st.booleans(), st.sampled_from([None, 1, "\t"]))
def test_elements_of_an_array_below_a_key_are_found(
    elements: list[Any], before: str, after: str, ascii: bool, indent: Any
) -> None:
    document = {"other": {"cells": [1]}, "cells": elements, "last": "]}"}
    text = before + json.dumps(document, ensure_ascii=ascii, indent=indent) + after
    assert found(text, "cells", EACH) == elements
    assert found(text, "cells") == [elements]
    assert found(text) == [document]


@given(values, space)
def test_what_is_not_there_is_not_found(value: Any, blank: str) -> None:
    text = f'{blank}{{"a":{blank}{json.dumps(value)}{blank},{blank}"b":[]}}'
    assert found(text, "missing", EACH) == []
    assert found(text, "b", EACH) == []
    assert found(text, "a") == [value]


def test_a_key_that_is_there_twice_is_found_twice() -> None:
    assert found('{"\\u0061": [1], "a": [2, 3]}', "a", EACH) == [1, 2, 3]
