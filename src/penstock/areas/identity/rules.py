"""The identity policy in words, for the policy report."""

from collections.abc import Sequence
from datetime import timedelta

from penstock.areas.identity.passwords import LONGEST
from penstock.areas.identity.policy import IdentityPolicy
from penstock.areas.identity.service import SHORTEST_PASSWORD
from penstock.resource.ports.rules import Rule


class IdentityRules:
    """Says what the policy in force is."""

    def __init__(self, policy: IdentityPolicy) -> None:
        self._policy = policy

    def rules(self) -> Sequence[Rule]:
        policy = self._policy
        wait = _minutes(policy.longest_wait)
        hashing = f"argon2id, {policy.hash_memory} KiB, {policy.hash_passes} passes, sealed at rest"
        keys = f"256 random bits, shown once, kept as SHA-256, at most {policy.api_keys_per_user} per user"
        return [
            Rule("Access token lifetime", _minutes(policy.access_token)),
            Rule("Refresh token lifetime", f"{policy.refresh_token.days} days, renewed with every use"),
            Rule("Refresh token reuse", f"ends the session, {policy.refresh_grace.seconds} s grace for a lost answer"),
            Rule("Passwords of users", "generated, 144 random bits, shown once"),
            Rule("Password of the first Admin", f"{SHORTEST_PASSWORD} to {LONGEST} characters when it is set"),
            Rule("Password hashing", hashing),
            Rule("Failed logins per user and address", f"{policy.free_attempts}, then waits from 1 s up to {wait}"),
            Rule("Failed logins per address", f"{policy.free_attempts_per_address}, then waits from 1 s up to {wait}"),
            Rule("API keys", keys),
        ]


def _minutes(span: timedelta) -> str:
    return f"{span.total_seconds() / 60:g} minutes"
