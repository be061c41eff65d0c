"""Who acts: roles and the authenticated caller."""

from enum import StrEnum
from uuid import UUID

import msgspec


class Role(StrEnum):
    """What a caller may do. Reader < Operator < Admin; Agent stands apart."""

    READER = "Reader"
    OPERATOR = "Operator"
    ADMIN = "Admin"
    AGENT = "Agent"

    def covers(self, needed: "Role") -> bool:
        """Whether one who has this role may do what `needed` is asked for."""
        if Role.AGENT in (self, needed):
            return self is needed
        order = (Role.READER, Role.OPERATOR, Role.ADMIN)
        return order.index(self) >= order.index(needed)


class Actor(msgspec.Struct, frozen=True):
    """The caller of an operation: a user, an agent, or the system itself.

    name: user name, agent id, or `system`; written to CreatedBy, UpdatedBy and the audit log.
    agent_id: set when the caller is an agent.
    """

    name: str
    roles: frozenset[Role]
    agent_id: UUID | None = None

    def may(self, needed: Role) -> bool:
        return any(role.covers(needed) for role in self.roles)


SYSTEM = Actor(name="system", roles=frozenset({Role.ADMIN}))
