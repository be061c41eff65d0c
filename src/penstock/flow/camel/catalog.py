"""What Camel knows: the names of its components, steps, languages and data formats, and of their options.

`catalog.json.xz` holds names of Apache Camel, under the Apache License 2.0; recatalog.py writes it.
"""

import lzma
from functools import cache
from importlib.resources import files

import msgspec

STEP = "ProcessorDefinition"
DOCUMENT = "document"
LANGUAGE = "language/"
DATA_FORMAT = "format/"


class ComponentEntry(msgspec.Struct, frozen=True):
    """artifact: Maven coordinate. options: all but those with prefixes, like `job.NAME`.

    open: whether it takes options of any name. consumer, producer: whether it can stand in `from`, in `to`.
    """

    artifact: str
    options: list[str]
    prefixes: list[str] = []
    open: bool = False
    consumer: bool = True
    producer: bool = True

    def takes(self, option: str) -> bool:
        return self.open or option in self.options or any(option.startswith(prefix) for prefix in self.prefixes)


class Form(msgspec.Struct, frozen=True):
    """What a value may look like. options: of a mapping, each with its own form's name.

    A form's name is empty for any value, and begins with `*` for a list. An option `/NAME` stands for all of the
    form NAME. text: whether a plain text is enough.
    """

    options: dict[str, str]
    text: bool = False


class Catalog(msgspec.Struct, frozen=True, kw_only=True):
    """languages, data_formats: Maven coordinates by name. forms: of the YAML DSL, by name."""

    notice: str
    version: str
    components: dict[str, ComponentEntry]
    languages: dict[str, str]
    data_formats: dict[str, str]
    forms: dict[str, Form]

    def options(self, form: str) -> dict[str, str]:
        """The options of a form by name, those that it takes from others among them."""
        found: dict[str, str] = {}
        waiting, seen = [form], {form}
        while waiting:
            for name, kind in self.forms[waiting.pop()].options.items():
                if not name.startswith("/"):
                    found[name] = kind or found.get(name, "")
                elif name[1:] in self.forms and name[1:] not in seen:
                    seen.add(name[1:])
                    waiting.append(name[1:])
        return found

    def takes_text(self, form: str) -> bool:
        return self.forms[form].text


@cache
def catalog() -> Catalog:
    """Camel's catalog, read when it is first needed."""
    content = files("penstock.flow.camel").joinpath("catalog.json.xz").read_bytes()
    return msgspec.json.decode(lzma.decompress(content), type=Catalog)
