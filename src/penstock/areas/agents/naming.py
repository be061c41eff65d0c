"""Names of agents: often a host's, never part of a subject or path, so wider than other names."""

from penstock.kernel.errors import Invalid

LONGEST = 128


def check_agent_name(field: str, name: str | None) -> str:
    """Returns the name without blanks around it. Raises Invalid naming `field`."""
    trimmed = (name or "").strip()
    if not trimmed or len(trimmed) > LONGEST or not trimmed.isprintable():
        raise Invalid.one(field, f"must be 1 to {LONGEST} printable characters")
    return trimmed
