"""Completion of code, with what each name is."""

import asyncio
import re
from collections.abc import Mapping
from typing import Any

from penstock.engine.kernel import Kernel
from penstock.engine.message import Completion

_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_MOST = 200
_DOCUMENTED = 12
_LONGEST = 4000
_SECONDS = 5.0
_TYPES = "_jupyter_types_experimental"


async def complete(kernel: Kernel, code: str, position: int) -> list[Completion]:
    """What may stand at the position; nothing while the kernel does not answer. Raises KernelLost."""
    try:
        async with asyncio.timeout(_SECONDS):
            reply = await kernel.ask("complete_request", {"code": code, "cursor_pos": position})
            found = _found(reply, code, position)[:_MOST]
            before = code[: int(reply.get("cursor_start", position))]
            told = await asyncio.gather(*(_documentation(kernel, before, name) for name, _ in found[:_DOCUMENTED]))
    except TimeoutError:
        return []
    documentation = dict(enumerate(told))
    return [
        Completion(text=name, type=type, documentation=documentation.get(number))
        for number, (name, type) in enumerate(found)
    ]


def _found(reply: Mapping[str, Any], code: str, position: int) -> list[tuple[str, str]]:
    """(text, type). The text takes the place of the word that was begun."""
    start = int(reply.get("cursor_start", position))
    described = (reply.get("metadata") or {}).get(_TYPES)
    if not isinstance(described, list):
        return [(str(match), "") for match in reply.get("matches") or ()]
    found = []
    for each in described:
        begun = code[start : int(each.get("start", start))]
        found.append((begun + str(each.get("text", "")), str(each.get("type", ""))))
    return found


async def _documentation(kernel: Kernel, before: str, name: str) -> str | None:
    code = before + name
    reply = await kernel.ask("inspect_request", {"code": code, "cursor_pos": len(code), "detail_level": 0})
    text = (reply.get("data") or {}).get("text/plain")
    return _ANSI.sub("", text)[:_LONGEST] if reply.get("found") and isinstance(text, str) else None
