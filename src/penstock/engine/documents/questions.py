"""Documents with their questions, `@input` and `@password`, made parameters that `#!value` declares on top."""

import json
from collections.abc import Mapping

import msgspec

from penstock.engine.documents.dib import META
from penstock.engine.documents.document import Document, Format, lines_of
from penstock.engine.documents.json_spans import EACH, spans
from penstock.engine.documents.magic import parse_magic
from penstock.engine.documents.parameters import asked_name

_Questions = dict[str, str]
"""By the name of the value that is asked for: the question as it is written, and the form of its answer."""


def without_questions(document: Document) -> str:
    """The document's text; as it was when it asks nothing."""
    asked: _Questions = {}
    if document.format is Format.DIB:
        text = "".join(_in_lines(cell.raw, asked) for cell in document.cells)
        return _behind_meta(document, text, asked) if asked else document.source
    if document.format is Format.IPYNB:
        text = "".join(_in_cell(cell.raw, asked) for cell in document.cells)
        return f"{document.head}{_cell(asked)}, {text}" if asked else document.source
    return document.source


def _in_lines(text: str, asked: _Questions) -> str:
    return "".join(_in_line(line, asked) for line in lines_of(text))


def _in_line(line: str, asked: _Questions) -> str:
    magic = parse_magic(line)
    if magic is None or magic.name == "value":
        return line
    for reference in magic.references:
        if reference.asks:
            name = asked_name(magic, reference)
            form = magic.text("mime-type")
            asked.setdefault(name, f"{reference.text} --mime-type {form}" if form else reference.text)
            line = line.replace(reference.text, f"@value:{_quoted(name)}", 1)
    return line


def _in_cell(raw: str, asked: _Questions) -> str:
    """Of a cell in JSON only the texts that change are written anew."""
    for path in (("source",), ("source", EACH)):
        for start, end in reversed(spans(raw, path)):
            given = json.loads(raw[start:end])
            if isinstance(given, str) and (text := _in_lines(given, asked)) != given:
                raw = raw[:start] + json.dumps(text, ensure_ascii=False) + raw[end:]
    return raw


def _cell(asked: _Questions) -> str:
    source = json.dumps(_declared(asked).rstrip(), ensure_ascii=False)
    return f'{{"cell_type": "code", "execution_count": null, "metadata": {{}}, "outputs": [], "source": {source}}}'


def _behind_meta(document: Document, text: str, asked: _Questions) -> str:
    meta = document.cells[0].raw if document.cells[0].kernel == META else ""
    return f"{meta}#!{document.default_kernel}\n{_declared(asked)}\n{text[len(meta) :]}"


def _declared(asked: Mapping[str, str]) -> str:
    return "".join(f"#!value --name {_quoted(name)} --from-value {question}\n" for name, question in asked.items())


def _quoted(name: str) -> str:
    return name if name.replace("_", "").isalnum() else msgspec.json.encode(name).decode()
