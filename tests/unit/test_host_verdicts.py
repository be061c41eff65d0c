"""Hosts that variables make: looked up side by side, and refused while nobody can say what they are."""

import asyncio
from collections.abc import Sequence

from penstock.areas.apim.table.verdicts import HostVerdicts
from penstock.egress.address_guard import AddressGuard


class Names:
    """What names mean. waiting: those that nobody answers for."""

    def __init__(self) -> None:
        self.addresses = {"inner": ["10.0.0.1"], "outer": ["93.184.215.14"]}
        self.waiting: set[str] = set()
        self.asked: list[str] = []

    async def resolve(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        if host in self.waiting:
            await asyncio.Event().wait()
        if host not in self.addresses:
            raise OSError("unknown")
        return self.addresses[host]


def verdicts_on(names: Names) -> HostVerdicts:
    return HostVerdicts(AddressGuard(allow_private=False, resolve=names.resolve))


async def test_hosts_are_judged_by_their_addresses_and_looked_up_once_for_a_while() -> None:
    names = Names()
    hosts = verdicts_on(names)
    for _ in range(3):
        assert await hosts.refused(["inner", "outer", "unknown", "127.0.0.1"]) == {"inner", "127.0.0.1"}
    assert sorted(names.asked) == ["inner", "outer", "unknown"]


async def test_a_host_that_is_used_no_more_is_forgotten() -> None:
    names = Names()
    hosts = verdicts_on(names)
    await hosts.refused(["inner"])
    assert await hosts.refused([]) == frozenset()
    names.addresses["inner"] = ["93.184.215.14"]
    assert await hosts.refused(["inner"]) == frozenset()


async def test_a_look_up_that_takes_too_long_is_a_refusal_and_holds_up_no_other() -> None:
    names = Names()
    names.waiting = {"slow"}
    assert await verdicts_on(names).refused(["slow", "inner", "outer"]) == {"slow", "inner"}
