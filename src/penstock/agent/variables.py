"""Variables that flows name, asked of the servers when they are used. Nothing of them reaches the disk."""

import asyncio
from collections.abc import Iterable

from penstock.agent.uplink import Uplink
from penstock.flow.variables import Variable
from penstock.kernel.errors import NotFound, Unavailable
from penstock.protocol import subjects
from penstock.protocol.work import VariableAnswer, VariableQuery

_FRESH_SECONDS = 5.0
_ASK_SECONDS = 3.0
_AT_ONCE = 200


class VariableSource:
    """A value is used for 5 s; while the servers are away, the last one that was heard is.

    What is asked for while a question is on its way goes together in the next one.

    what: the question; each kind of work has variables of its own.
    """

    def __init__(self, uplink: Uplink, what: str = subjects.VARIABLES) -> None:
        self._uplink = uplink
        self._what = what
        self._known: dict[str, Variable | None] = {}
        self._fresh_until: dict[str, float] = {}
        self._wanted: set[str] = set()
        self._turn = asyncio.Lock()

    async def resolve(self, name: str) -> Variable:
        """Raises NotFound when there is no such variable, Unavailable when it was never heard and nobody answers."""
        name = str(name)  # flows pass their own kind of text, which no message takes
        if not self._is_fresh(name):
            try:
                await self._ask(name)
            except Unavailable:
                if name not in self._known:
                    raise
                self._keep_fresh([name])  # not asked for again by every run while nobody answers
        variable = self._known[name]
        if variable is None:
            raise NotFound.of("variable", name)
        return variable

    async def values(self, names: Iterable[str]) -> dict[str, tuple[str, bool]]:
        """Value, and whether it is secret, of those that exist. Raises as `resolve`."""
        values: dict[str, tuple[str, bool]] = {}
        for name in names:
            try:
                variable = await self.resolve(name)
            except NotFound:
                continue
            values[name] = variable.value, variable.is_secret
        return values

    async def _ask(self, name: str) -> None:
        self._wanted.add(name)
        async with self._turn:
            if name in self._wanted:  # else it went with the question of another
                await self._ask_for([name, *self._wanted - {name}][:_AT_ONCE])
        if not self._is_fresh(name):
            raise Unavailable(f"Variable '{name}' cannot be asked for, the servers are away")

    async def _ask_for(self, names: list[str]) -> None:
        self._wanted.difference_update(names)
        answer = await self._uplink.ask(self._what, VariableQuery(names=names), VariableAnswer, _ASK_SECONDS)
        for name in names:
            found = answer.values.get(name)
            self._known[name] = Variable(found.value, found.is_secret) if found is not None else None
        self._keep_fresh(names)

    def _keep_fresh(self, names: Iterable[str]) -> None:
        until = asyncio.get_running_loop().time() + _FRESH_SECONDS
        self._fresh_until.update(dict.fromkeys(names, until))

    def _is_fresh(self, name: str) -> bool:
        return self._fresh_until.get(name, 0.0) > asyncio.get_running_loop().time()
