"""Capabilities of agents and the requirements that work puts to them."""

from collections.abc import Iterable, Sequence
from enum import IntEnum

from penstock.kernel.wire import Map, Wire


class CapabilityType(IntEnum):
    """Where a capability comes from: found on the machine, set by its operator, or reported by a package."""

    SYSTEM = 0
    CONFIGURED = 1
    CUSTOM = 2


class AgentCapability(Wire):
    """One thing an agent offers. Identifier is compared without case; IdentifierValueComparer has no content.

    IsCustom: given to the agent by an operator of the servers, not reported by it.
    """

    identifier_value_comparer: Map | None = None
    identifier: str | None = None
    value: str | None = None
    is_custom: bool = False
    capability_type: CapabilityType = CapabilityType.SYSTEM


class Requirement(Wire):
    """One thing that work needs of an agent."""

    identifier: str | None = None
    value: str | None = None


def satisfies(capabilities: Iterable[AgentCapability], requirements: Sequence[Requirement]) -> bool:
    """Whether every requirement equals a capability: identifier without case, value exactly."""
    offered = {((c.identifier or "").casefold(), c.value or "") for c in capabilities}
    return all(((r.identifier or "").casefold(), r.value or "") in offered for r in requirements)
