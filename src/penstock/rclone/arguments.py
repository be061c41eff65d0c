"""The options that a transfer may set beyond its source, destination and filters."""

import difflib
import re
import shlex
from collections.abc import Iterator
from typing import Any

import msgspec

from penstock.kernel.errors import FieldError

_INT = re.compile(r"\d{1,6}")
_SIZE = re.compile(r"off|\d+(\.\d+)?([KMGTP]i?)?B?", re.IGNORECASE)
_TIME = re.compile(r"(\d+(\.\d+)?(ms|s|m|h|d|w|M|y))+")
_RATE = re.compile(r"(off|\d+(\.\d+)?[BKMGTP]?)(:(off|\d+(\.\d+)?[BKMGTP]?))?", re.IGNORECASE)
_ORDER = re.compile(r"(name|size|modtime)(,(ascending|asc|descending|desc|mixed))?(,\d+)?")
_SHARE = re.compile(r"0(\.\d+)?|1(\.0+)?")


class Option(msgspec.Struct, frozen=True):
    """block: which part of a call the value belongs to. key: its name there. pattern: None for a switch."""

    block: str
    key: str
    pattern: re.Pattern[str] | None = None
    expected: str = ""

    def value(self, text: str) -> Any:
        if self.pattern is _INT:
            return int(text)
        return float(text) if self.pattern is _SHARE else text


def _switch(key: str, block: str = "config") -> Option:
    return Option(block, key)


def _count(key: str) -> Option:
    return Option("config", key, _INT, "a whole number")


def _size(key: str, block: str = "config") -> Option:
    return Option(block, key, _SIZE, "a size, such as 64M")


def _time(key: str, block: str = "config") -> Option:
    return Option(block, key, _TIME, "a duration, such as 1m30s")


OPTIONS: dict[str, Option] = {
    "transfers": _count("Transfers"),
    "checkers": _count("Checkers"),
    "bwlimit": Option("own", "bandwidth", _RATE, "a rate in bytes a second, such as 10M, or 10M:1M up and down"),
    "checksum": _switch("CheckSum"),
    "size-only": _switch("SizeOnly"),
    "ignore-existing": _switch("IgnoreExisting"),
    "ignore-times": _switch("IgnoreTimes"),
    "update": _switch("UpdateOlder"),
    "immutable": _switch("Immutable"),
    "metadata": _switch("Metadata"),
    "check-first": _switch("CheckFirst"),
    "fast-list": _switch("UseListR"),
    "no-traverse": _switch("NoTraverse"),
    "no-update-modtime": _switch("NoUpdateModTime"),
    "track-renames": _switch("TrackRenames"),
    "inplace": _switch("Inplace"),
    "use-server-modtime": _switch("UseServerModTime"),
    "max-depth": _count("MaxDepth"),
    "max-transfer": _size("MaxTransfer"),
    "max-duration": _time("MaxDuration"),
    "multi-thread-streams": _count("MultiThreadStreams"),
    "multi-thread-cutoff": _size("MultiThreadCutoff"),
    "buffer-size": _size("BufferSize"),
    "modify-window": _time("ModifyWindow"),
    "timeout": _time("Timeout"),
    "contimeout": _time("ConnectTimeout"),
    "low-level-retries": _count("LowLevelRetries"),
    "order-by": Option("config", "OrderBy", _ORDER, "name, size or modtime, then a comma and the direction"),
    "max-age": _time("MaxAge", "filter"),
    "min-age": _time("MinAge", "filter"),
    "max-size": _size("MaxSize", "filter"),
    "min-size": _size("MinSize", "filter"),
    "ignore-case": _switch("IgnoreCase", "filter"),
    "create-empty-src-dirs": _switch("createEmptySrcDirs", "call"),
    "delete-empty-src-dirs": _switch("deleteEmptySrcDirs", "call"),
    "retries": Option("own", "retries", _INT, "a whole number"),
    "verify": _switch("verify", "own"),
    "max-delete-share": Option("own", "delete_share", _SHARE, "a share between 0 and 1"),
}
"""What may be given, as with rclone's command line. Nothing is here that names files or programs of the agent, or that
weakens how rclone checks what it has copied."""


class Arguments(msgspec.Struct, frozen=True):
    """config, filter, call: parts of rclone's call. retries: tries of the whole transfer.

    bandwidth: the most that is sent and received, as rclone writes it.
    verify: whether source and destination are compared once more in the end. delete_share: the share of the
    destination's files that a sync may delete.
    """

    config: dict[str, Any] = {}
    filter: dict[str, Any] = {}
    call: dict[str, Any] = {}
    retries: int = 3
    bandwidth: str = "off"
    verify: bool = False
    delete_share: float = 0.5


def read_arguments(text: str) -> tuple[Arguments, list[FieldError]]:
    """`--transfers 8 --checksum`, or `--transfers=8`; quoted as in a shell. Answers with everything that is wrong."""
    blocks: dict[str, dict[str, Any]] = {"config": {}, "filter": {}, "call": {}, "own": {}}
    errors: list[FieldError] = []
    try:
        words = iter(shlex.split(text))
    except ValueError as error:
        return Arguments(), [FieldError("Args", f"cannot be read: {error}")]
    known = True
    for word in words:
        if not known and not word.startswith("--"):
            known = True  # the value of an option that is not known
            continue
        problem = _read(word, words, blocks)
        known = problem is None
        if problem is not None:
            errors.append(FieldError("Args", problem))
    return Arguments(blocks["config"], blocks["filter"], blocks["call"], **blocks["own"]), errors


def _read(word: str, words: Iterator[str], blocks: dict[str, dict[str, Any]]) -> str | None:
    """Takes one option into its block; answers what is wrong with it."""
    name, equals, given = word.removeprefix("--").partition("=")
    option = OPTIONS.get(name) if word.startswith("--") else None
    if option is None:
        return _unknown(word)
    if option.pattern is None:
        if equals and given not in ("true", "false"):
            return f"--{name} takes no value"
        blocks[option.block][option.key] = given != "false"
        return None
    value = given if equals else next(words, None)
    if value is None or not option.pattern.fullmatch(value):
        return f"--{name} takes {option.expected}"
    blocks[option.block][option.key] = option.value(value)
    return None


def _unknown(word: str) -> str:
    if not word.startswith("--"):
        return f"'{word}' belongs to no option"
    name = word.removeprefix("--").partition("=")[0]
    near = difflib.get_close_matches(name, OPTIONS, 1)
    hint = (
        f"did you mean --{near[0]}?" if near else "allowed are: " + ", ".join(f"--{each}" for each in sorted(OPTIONS))
    )
    return f"--{name} is not allowed; {hint}"
