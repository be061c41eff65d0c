"""Documents of every form are read into cells, and written back without loss."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.engine.documents.dib import parse_dib
from penstock.engine.documents.document import Format
from penstock.engine.documents.reading import format_of, read_document, write_document
from penstock.kernel.errors import Invalid
from tests.unit.odd_notebooks import LOOSE, WORKSHEETS

SAMPLES = sorted((Path(__file__).parents[1] / "documents").iterdir())

lines = st.one_of(
    st.sampled_from(
        [
            "#!python",
            "#!PYTHON ",
            "#!csharp\t",
            "#!meta",
            "{}",
            '{"kernelInfo":{"items":[{"name":"odd","aliases":["o"]}]}}',
            "#!odd",
            "#!o",
            "#!value --name x --from-value 1",
            "#!/bin/sh",
            "",
            "\t",
            "\x0c",
        ]
    ),
    st.text(st.characters(exclude_characters="\n", exclude_categories=("Cs",))),
)


def sample(name: str) -> str:
    path = next(path for path in SAMPLES if path.name == name)
    return path.read_bytes().decode()


@given(st.lists(st.tuples(lines, st.sampled_from(["\n", "\r\n", "\r", ""]))))
def test_any_text_is_a_dib_document_that_is_written_back_as_it_was(parts: list[tuple[str, str]]) -> None:
    text = "".join(line + end for line, end in parts)
    try:
        document = parse_dib(text)
    except Invalid:
        assert "#!meta" in text.casefold()  # which must be followed by JSON
    else:
        assert write_document(document) == text
        assert "".join(cell.raw for cell in document.cells) == text


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_samples_are_written_back_byte_for_byte(path: Path) -> None:
    content = path.read_bytes()
    assert write_document(read_document(content.decode(), path.name)).encode() == content


@pytest.mark.parametrize("source", [LOOSE, WORKSHEETS])
def test_odd_notebooks_are_written_back_as_they_were(source: str) -> None:
    document = read_document(source, "odd.ipynb")
    assert write_document(document) == source
    assert all(cell.raw for cell in document.cells)


def test_a_line_with_a_kernels_name_begins_a_cell() -> None:
    document = read_document(sample("weather.dib"))
    assert [cell.kernel for cell in document.cells] == ["meta", "markdown", "python", "python", "python"]
    assert document.cells[1].text.startswith("# Weather report")
    assert document.cells[4].text == '{"city": city, "mean": round(mean(readings), 2)}'


def test_names_that_meta_declares_begin_cells_too() -> None:
    text = '#!meta\n{"kernelInfo":{"items":[{"name":"sales","aliases":["s"]}]}}\n#!sales\nSELECT 1\n#!s\nSELECT 2\n'
    document = parse_dib(text)
    assert [(cell.kernel, cell.text) for cell in document.cells[1:]] == [("sales", "SELECT 1"), ("s", "SELECT 2")]
    assert document.aliases == {"s": "sales"}


def test_text_before_the_first_mark_is_of_the_default_kernel() -> None:
    assert parse_dib("1 + 1").cells[0].kernel == "python"
    assert parse_dib("1 + 1", default_kernel="csharp").cells[0].kernel == "csharp"
    named = parse_dib('#!meta\n{"kernelInfo":{"defaultKernelName":"fsharp"}}\n#!markdown\nx')
    assert named.default_kernel == "fsharp"


def test_kernels_may_have_any_name_that_meta_declares() -> None:
    cells = read_document(sample("named.dib")).cells
    assert [cell.kernel for cell in cells] == ["meta", "writer(prompt)", "md", "f#"]
    assert cells[2].text.endswith("#!meta")


def test_a_byte_order_mark_hides_no_mark() -> None:
    assert read_document(sample("odd.dib")).cells[0].kernel == "meta"
    assert read_document("\ufeff1 + 1").cells[0].text == "1 + 1"


def test_cells_of_a_jupyter_notebook_are_the_texts_that_it_consists_of() -> None:
    document = read_document(WORKSHEETS, "old.ipynb")
    assert [cell.kernel for cell in document.cells] == ["markdown", "python"]
    assert document.cells[1].raw.startswith('{"cell_type": "code"')
    assert document.head.endswith('{"cells": [')


def test_a_jupyter_notebook_of_a_later_version_is_read_as_far_as_it_is_known() -> None:
    document = read_document(LOOSE, "loose.ipynb")
    assert [(cell.kernel, cell.text) for cell in document.cells] == [
        ("python", "1"),
        ("markdown", ""),
        ("markdown", "two\n"),
        ("raw", ""),
    ]


def test_windows_line_ends_are_no_part_of_names() -> None:
    assert [cell.kernel for cell in read_document(sample("windows.dib")).cells] == ["csharp", "markdown", "fsharp"]


def test_a_jupyter_notebook_has_its_cells_and_tags() -> None:
    document = read_document(sample("sales.ipynb"), "sales.ipynb")
    assert [(cell.kernel, cell.tags) for cell in document.cells] == [
        ("markdown", ()),
        ("python3", ("parameters",)),
        ("python3", ()),
    ]
    assert document.cells[1].text.splitlines()[1] == "year: int = 2024"


def test_cells_of_a_polyglot_notebook_have_their_own_kernels() -> None:
    document = read_document(sample("polyglot.ipynb"), "polyglot.ipynb")
    assert [cell.kernel for cell in document.cells] == ["csharp", "raw", "markdown"]


def test_marks_divide_python_in_percent_form() -> None:
    document = read_document(sample("report.py"), "report.py")
    assert [cell.kernel for cell in document.cells] == ["markdown", "python3", "python3", "python3"]
    assert document.cells[1].tags == ("parameters",)


@pytest.mark.parametrize(
    ("text", "name", "format"),
    [
        ("x", "a.ipynb", Format.IPYNB),
        ('{"cells": [], "nbformat": 4}', None, Format.IPYNB),
        ('{"cells": []}', None, Format.DIB),
        ("# %%\nx = 1", None, Format.PERCENT),
        ("# %%\n#!python\nx = 1", None, Format.DIB),
        ("# %%\nx = 1", "a.dib", Format.DIB),
        ("print(1)", "a.py", Format.DIB),
        ("", None, Format.DIB),
    ],
)
def test_the_form_is_told_by_the_name_or_by_the_text(text: str, name: str | None, format: Format) -> None:
    assert format_of(text, name) is format


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("PK\x03\x04\x00binary", None),
        ("{", "a.ipynb"),
        ("[]", "a.ipynb"),
        ("{}", "a.ipynb"),
        ('{"cells": 3, "nbformat": 4, "nbformat_minor": 5, "metadata": {}}', "a.ipynb"),
        ("#!meta\nnot json", None),
        ('{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [' + "[" * 100_000, "a.ipynb"),
        ('#!meta\n{"kernelInfo": {"items": 3}}', None),
        ('#!meta\n{"kernelInfo": 3}', None),
    ],
)
def test_what_is_no_document_is_refused(text: str, name: str | None) -> None:
    with pytest.raises(Invalid):
        read_document(text, name)
