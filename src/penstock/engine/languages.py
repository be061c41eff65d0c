"""The kernels that are installed, and how values get into and out of those that share them."""

import asyncio
import json
from collections.abc import Mapping, Sequence

import msgspec

from penstock.engine.documents.kernels import canonical
from penstock.kernel.errors import Invalid

PYTHON = "python"
_PAUSE = 15.0  # seconds


class Language(msgspec.Struct, frozen=True):
    """An installed kernel. name: as documents call it. argv: of its Jupyter kernelspec, None for Python's own."""

    name: str
    display_name: str
    language: str
    argv: tuple[str, ...] | None = None
    environment: Mapping[str, str] = {}
    folder: str | None = None


class Sharing(msgspec.Struct, frozen=True):
    """Code of one language. read: shows the variable {name} as a text of JSON. write: sets {name} from {json},
    which is a literal text of the language that holds JSON."""

    read: str
    write: str


SHARING: Mapping[str, Sharing] = {
    "python": Sharing(
        read="__import__('sys').stdout.write(__import__('json').dumps({name}))",
        write="{name} = __import__('json').loads({json})",
    ),
    "javascript": Sharing(
        read="process.stdout.write(JSON.stringify({name}))", write="var {name} = JSON.parse({json});"
    ),
    "r": Sharing(read="cat(jsonlite::toJSON({name}, auto_unbox = TRUE))", write="{name} <- jsonlite::fromJSON({json})"),
    "julia": Sharing(read="import JSON; print(JSON.json({name}))", write="import JSON; {name} = JSON.parse({json})"),
    "ruby": Sharing(
        read="require 'json'; $stdout.write({name}.to_json)", write="require 'json'; {name} = JSON.parse({json})"
    ),
    "bash": Sharing(read='printf %s "${name}"', write="{name}={json}"),
}


def reading(language: str, name: str) -> str:
    """Code that prints the variable as JSON. Raises Invalid when the language cannot share."""
    return _sharing(language).read.replace("{name}", name)


def writing(language: str, name: str, value: str) -> str:
    """Code that sets the variable from JSON. Raises Invalid when the language cannot share."""
    # A text of JSON in quotes is a literal in each of these languages but bash, whose texts are its values.
    literal = json.dumps(value) if language != "bash" else "'" + value.replace("'", "'\\''") + "'"
    return _sharing(language).write.replace("{name}", name).replace("{json}", literal)


def _sharing(language: str) -> Sharing:
    found = SHARING.get(language.casefold())
    if found is None:
        raise Invalid.one("", f"values cannot be shared with {language}; languages that can: {', '.join(SHARING)}")
    return found


class Languages:
    """What is installed; looked for anew with each name that is not known yet, and now and then by `keep_current`."""

    def __init__(self) -> None:
        self._known: Mapping[str, Language] = {}

    async def find(self, name: str) -> Language:
        """Raises Invalid, naming what there is, when the kernel is not installed."""
        wanted = canonical(name)
        if wanted not in self._known:
            await self._look()
        found = self._known.get(wanted)
        if found is None:
            there = ", ".join(sorted({language.name for language in self._known.values()}))
            raise Invalid.one("", f"the kernel '{name}' is not installed; installed: {there}")
        return found

    async def names(self) -> Sequence[str]:
        """Everything that documents may call the installed kernels, as of a moment ago."""
        if not self._known:
            await self._look()
        return sorted(self._known)

    async def keep_current(self) -> None:
        """Until cancelled."""
        while True:
            await self._look()
            await asyncio.sleep(_PAUSE)

    async def _look(self) -> None:
        self._known = await asyncio.to_thread(installed)


def installed() -> Mapping[str, Language]:
    """By every name that documents may use: a kernel's own, and that of its language."""
    from jupyter_client.kernelspec import KernelSpecManager

    python = Language(PYTHON, "Python", PYTHON)
    found: dict[str, Language] = {PYTHON: python}
    for name, given in KernelSpecManager(ensure_native_kernel=False).get_all_specs().items():
        spec = given["spec"]
        if canonical(name) == PYTHON:
            continue
        language = Language(
            canonical(name),
            spec["display_name"],
            canonical(spec["language"]),
            tuple(spec["argv"]),
            spec.get("env", {}),
            given["resource_dir"],
        )
        found[language.name] = language
        found.setdefault(language.language, language)
    return found
