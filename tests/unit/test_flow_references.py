"""Which variables a flow's text refers to."""

import pytest

from penstock.flow.parsing.references import variables_in


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("setBody: {constant: '{{var:A}} and {{var:b.c}}'}", ["A", "b.c"]),
        ('dataSource: "#shop"', ["datasource.shop"]),
        ("dataSource: '#bean:shop'", ["datasource.shop"]),
        ('{"dataSource": "#shop"}', ["datasource.shop"]),
        ("uri: sql:select 1?dataSource=#shop&batch=true", ["datasource.shop"]),
        ("dataSource: shop", []),
        ("{{other}} #shop", []),
    ],
)
def test_variables_and_databases_are_found(text: str, names: list[str]) -> None:
    assert list(variables_in(text)) == names
