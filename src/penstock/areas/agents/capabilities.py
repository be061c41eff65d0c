"""Which capabilities an agent has: those that it reports, and those that an operator gave it here."""

from collections.abc import Sequence

import msgspec

from penstock.kernel.errors import FieldError, Invalid
from penstock.protocol.capability import AgentCapability, CapabilityType

MOST = 500
_LONGEST = 1024  # characters


def reported(before: Sequence[AgentCapability], report: Sequence[AgentCapability]) -> list[AgentCapability]:
    """What the agent has after it reported: the report, and what an operator gave it."""
    given = [capability for capability in before if capability.is_custom]
    own = [msgspec.structs.replace(each, is_custom=False) for each in report[:MOST] if _fits(each)]
    return _distinct([*own, *given])


def assigned(before: Sequence[AgentCapability], wanted: Sequence[AgentCapability]) -> list[AgentCapability]:
    """What the agent has after an operator said what it should have.

    The Configured ones that the agent did not report are the operator's and are all replaced; the rest of
    `wanted` is the agent's own to say and passed over. Raises Invalid.
    """
    _check(wanted)
    own = [capability for capability in before if not capability.is_custom]
    given = [
        msgspec.structs.replace(capability, is_custom=True)
        for capability in wanted
        if capability.capability_type is CapabilityType.CONFIGURED
    ]
    return _distinct([*own, *given])


def same(one: Sequence[AgentCapability] | None, other: Sequence[AgentCapability] | None) -> bool:
    """Whether both lists say the same; their order does not count."""
    return _keys(one or ()) == _keys(other or ())


def _keys(capabilities: Sequence[AgentCapability]) -> set[tuple[object, ...]]:
    return {(_key(each), each.capability_type, each.is_custom) for each in capabilities}


def _key(capability: AgentCapability) -> tuple[str, str]:
    return (capability.identifier or "").casefold(), capability.value or ""


def _distinct(capabilities: Sequence[AgentCapability]) -> list[AgentCapability]:
    kept: dict[tuple[str, str], AgentCapability] = {}
    for capability in capabilities:
        kept.setdefault(_key(capability), capability)
    return list(kept.values())


def _fits(capability: AgentCapability) -> bool:
    return bool(capability.identifier) and all(len(text) <= _LONGEST for text in _key(capability))


def _check(wanted: Sequence[AgentCapability]) -> None:
    errors = [
        FieldError(f"Capabilities[{index}].Identifier", f"is required; it and Value have at most {_LONGEST} characters")
        for index, capability in enumerate(wanted)
        if not _fits(capability)
    ]
    if len(wanted) > MOST:
        errors.append(FieldError("Capabilities", f"must be at most {MOST}"))
    if errors:
        raise Invalid(errors)
