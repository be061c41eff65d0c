"""Renews `catalog.json.xz` from Camel's own artifacts: `python -m penstock.flow.camel.recatalog [MIRROR]`.

Names only are taken, from `camel-catalog` and `camel-yaml-dsl`, which are under the Apache License 2.0.
"""

import lzma
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import msgspec

from penstock.flow.camel.catalog import Catalog, ComponentEntry, Form
from penstock.flow.camel.coordinate import Coordinate
from penstock.flow.camel.release import GROUP, VERSION
from penstock.flow.camel.repository import Repository

_NOTICE = (
    f"Names of Apache Camel {VERSION}, Copyright The Apache Software Foundation, "
    "licensed under the Apache License, Version 2.0."
)
_FOLDER = "org/apache/camel/catalog"
_SCHEMA = "schema/camelYamlDsl.json"
_LANGUAGES = "org.apache.camel.model.language."
_FORMATS = "org.apache.camel.model.dataformat."
_DOCUMENT = "document"

Schema = Mapping[str, Any]


def make(mirror: str) -> Catalog:
    """The catalog of the release."""
    with tempfile.TemporaryDirectory() as folder, Repository(Path(folder), mirror) as repository:
        catalog, dsl = (
            ZipFile(repository.fetch(Coordinate(GROUP, artifact, VERSION)))
            for artifact in ("camel-catalog", "camel-yaml-dsl")
        )
        with catalog, dsl:
            schema = msgspec.json.decode(dsl.read(_SCHEMA))["items"]
            return Catalog(
                notice=_NOTICE,
                version=VERSION,
                components={
                    entry["component"]["scheme"]: _component(entry) for entry in _entries(catalog, "components")
                },
                languages=dict(_artifacts(catalog, "languages", "language")),
                data_formats=dict(_artifacts(catalog, "dataformats", "dataformat")),
                forms=dict(_forms(schema)),
            )


def _entries(catalog: ZipFile, family: str) -> Iterator[Schema]:
    for name in sorted(catalog.namelist()):
        if name.startswith(f"{_FOLDER}/{family}/") and name.endswith(".json"):
            yield msgspec.json.decode(catalog.read(name))


def _component(entry: Schema) -> ComponentEntry:
    facts = entry["component"]
    options = entry["properties"].items()
    return ComponentEntry(
        artifact=_artifact(facts),
        options=sorted(name for name, option in options if not option.get("multiValue")),
        prefixes=sorted({option["prefix"] for _, option in options if option.get("multiValue") and "prefix" in option}),
        open=bool(facts.get("lenientProperties") or facts.get("api")),
        consumer=not facts["producerOnly"],
        producer=not facts["consumerOnly"],
    )


def _artifacts(catalog: ZipFile, family: str, key: str) -> Iterator[tuple[str, str]]:
    for entry in _entries(catalog, family):
        yield entry[key]["name"], _artifact(entry[key])


def _artifact(facts: Schema) -> str:
    return f"{facts['groupId']}:{facts['artifactId']}:{facts['version']}"


def _forms(schema: Schema) -> Iterator[tuple[str, Form]]:
    definitions = {_short(name): each for name, each in schema["definitions"].items()}
    lists = {name: _kind(each) for name, each in definitions.items() if each.get("type") == "array"}
    for name, each in {**definitions, _DOCUMENT: schema}.items():
        if name not in lists:
            yield name, _form(each, lists)


def _form(schema: Schema, lists: Mapping[str, str]) -> Form:
    """lists: definitions that are lists, with what these hold."""
    options: dict[str, str] = {}
    text = False
    for part in _parts(schema):
        text = text or part.get("type") in ("string", "number", "boolean")
        for name, option in part.get("properties", {}).items():
            kind = _kind(option)
            kind = lists.get(kind, kind)
            if kind or name not in options:
                options[name] = kind
    return Form(options=options, text=text)


def _parts(schema: Schema) -> Iterator[Schema]:
    """The schema and its alternatives; what must not be is left out."""
    yield schema
    for key in ("oneOf", "anyOf", "allOf"):
        for alternative in schema.get(key, ()):
            if "$ref" in alternative:
                yield {"properties": {f"/{_short(alternative['$ref'])}": {}}}
            else:
                yield from _parts(alternative)


def _kind(option: Schema) -> str:
    """The form of an option's value: its name, `*` before that of a list's items, empty for any value."""
    if "$ref" in option:
        return _short(option["$ref"])
    if option.get("type") == "array" and "$ref" in option.get("items", {}):
        return "*" + _short(option["items"]["$ref"])
    return ""


def _short(name: str) -> str:
    """`language/`, `format/` or nothing, and the last part of a class name."""
    name = name.removeprefix("#/items/definitions/")
    family = "language/" if name.startswith(_LANGUAGES) else "format/" if name.startswith(_FORMATS) else ""
    return family + name.rpartition(".")[2]


if __name__ == "__main__":
    content = msgspec.json.encode(make(sys.argv[1] if len(sys.argv) > 1 else ""))
    Path(__file__).with_name("catalog.json.xz").write_bytes(lzma.compress(content, preset=9 | lzma.PRESET_EXTREME))
