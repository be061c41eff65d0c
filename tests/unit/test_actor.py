"""Roles: who may do what."""

import pytest

from penstock.kernel.actor import SYSTEM, Actor, Role

COVERED = {
    Role.READER: {Role.READER},
    Role.OPERATOR: {Role.READER, Role.OPERATOR},
    Role.ADMIN: {Role.READER, Role.OPERATOR, Role.ADMIN},
    Role.AGENT: {Role.AGENT},
}


@pytest.mark.parametrize("role", Role)
def test_a_role_covers_itself_and_those_below_and_agent_stands_apart(role: Role) -> None:
    assert {needed for needed in Role if role.covers(needed)} == COVERED[role]


@pytest.mark.parametrize("needed", Role)
def test_an_actor_may_do_what_any_of_its_roles_may(needed: Role) -> None:
    both = Actor(name="a", roles=frozenset({Role.READER, Role.AGENT}))
    assert both.may(needed) == (needed in {Role.READER, Role.AGENT})


@pytest.mark.parametrize("needed", Role)
def test_an_actor_without_roles_may_do_nothing(needed: Role) -> None:
    assert not Actor(name="a", roles=frozenset()).may(needed)


def test_the_system_is_an_admin_but_no_agent() -> None:
    assert SYSTEM.may(Role.ADMIN)
    assert not SYSTEM.may(Role.AGENT)


def test_roles_are_written_by_name() -> None:
    assert [str(role) for role in Role] == ["Reader", "Operator", "Admin", "Agent"]
