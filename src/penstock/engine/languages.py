"""The kernels that are installed, and how values get into and out of those that share them."""

import asyncio
import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import structlog

from penstock.engine.documents.kernels import canonical
from penstock.kernel.errors import Invalid

_log = structlog.get_logger(__name__)

PYTHON = "python"
_PAUSE = 15.0  # seconds
_KERNELS = "share/jupyter/kernels"


class Language(msgspec.Struct, frozen=True):
    """An installed kernel. name: as documents call it. argv: of its Jupyter kernelspec, None for Python's own."""

    name: str
    display_name: str
    language: str
    argv: tuple[str, ...] | None = None
    environment: Mapping[str, str] = {}


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
        read="void process.stdout.write(JSON.stringify({name}))", write="var {name} = JSON.parse({json});"
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
    """What is installed; looked for anew with each name that is not known yet, and now and then by `keep_current`.

    python: the interpreter of Python kernels, whose environment may have kernels of other languages too.
    """

    def __init__(self, python: str = sys.executable) -> None:
        self._python = python
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
        self._known = await asyncio.to_thread(installed, self._python)


class _Specification(msgspec.Struct):
    """A Jupyter kernelspec (kernel.json)."""

    argv: Annotated[list[str], msgspec.Meta(min_length=1)]
    display_name: str
    language: str
    env: dict[str, str] = {}


def installed(python: str = sys.executable) -> Mapping[str, Language]:
    """By every name that documents may use: a kernel's own, and that of its language."""
    from jupyter_client.kernelspec import KernelSpecManager

    found: dict[str, Language] = {PYTHON: Language(PYTHON, "Python", PYTHON)}
    specs = KernelSpecManager(ensure_native_kernel=False)
    specs.kernel_dirs = [str(Path(python).absolute().parent.parent / _KERNELS), *specs.kernel_dirs]
    for name, folder in specs.find_kernel_specs().items():
        try:
            spec = msgspec.json.decode((Path(folder) / "kernel.json").read_bytes(), type=_Specification)
        except (OSError, msgspec.MsgspecError) as problem:
            _log.warning("kernel cannot be used", kernel=name, folder=folder, reason=str(problem))
            continue
        if canonical(name) != PYTHON:
            language = _language(canonical(name), spec)
            found[language.name] = language
            found.setdefault(language.language, language)
    return found


def _language(name: str, spec: _Specification) -> Language:
    # Kernels have a search path of their own.
    program = shutil.which(spec.argv[0]) or spec.argv[0]
    return Language(name, spec.display_name, canonical(spec.language), (program, *spec.argv[1:]), spec.env)
