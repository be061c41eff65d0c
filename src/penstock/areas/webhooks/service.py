"""What is done with the definitions of webhooks: listed, planned, their secrets kept."""

from collections.abc import Sequence

import msgspec

from penstock.areas.webhooks.model import WEBHOOKS, AuthenticationType, Webhook, WebhookDto
from penstock.connectors.reference import is_reference, names_in, replaced
from penstock.connectors.secret_fields import MASK
from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.kernel.errors import NotFound, Unavailable
from penstock.kernel.ids import new_id
from penstock.resource.changes import Changes
from penstock.resource.ports.variables import Variables
from penstock.resource.resource import Resource
from penstock.resource.sealed import Renewal, Sealed
from penstock.resource.secrets import Secrets
from penstock.store.store import Store
from penstock.store.write import Write


class WebhookService:
    """Secrets are sealed beside the webhook, in the order of its masked ones."""

    def __init__(self, store: Store, secrets: Secrets, changes: Changes, clock: Clock, variables: Variables) -> None:
        self._webhooks = Resource(WEBHOOKS, store, changes, clock, kind="webhook")
        self._sealed = Sealed(WEBHOOKS, store, secrets, clock)
        self._changes = changes
        self._variables = variables

    async def all(self) -> list[WebhookDto]:
        """Every webhook, newest first."""
        return [webhook.shown() for webhook in await self._webhooks.decoded()]

    async def named(self, name: str) -> Webhook:
        """Raises NotFound."""
        found = await self.find(name)
        if found is None:
            raise NotFound.of("webhook", name)
        return found

    async def find(self, name: str) -> Webhook | None:
        """The webhook of this name, compared without case."""
        return await self._webhooks.find("name", name)

    async def secrets(self, webhook: Webhook) -> Sequence[str]:
        """In the clear, references not yet replaced. Raises SecretUnreadable."""
        if webhook.authentication.type is AuthenticationType.OPEN:
            return ()
        sealed = await self._sealed.open(webhook.key)
        return msgspec.json.decode(sealed, type=list[str]) if sealed else ()

    async def usable_secrets(self, webhook: Webhook) -> Sequence[str]:
        """In the clear, with the values of variables. Raises Unavailable when a variable is missing."""
        secrets = await self.secrets(webhook)
        names = names_in(list(secrets))
        if not names:
            return secrets
        values = await self._variables.values(sorted(names))
        missing = names - values.keys()
        if missing:
            raise Unavailable(f"the webhook '{webhook.name}' needs the variable '{min(missing)}', which does not exist")
        return [replaced(secret, lambda name: values[name][0]) for secret in secrets]

    async def plan_put(
        self, wanted: Webhook, secrets: Sequence[str], before: Webhook | None, actor: Actor
    ) -> Sequence[Write]:
        """The writes that store the webhook; none when nothing differs. secrets: in the clear."""
        masked = [secret if is_reference(secret) else MASK for secret in secrets]
        authentication = msgspec.structs.replace(wanted.authentication, secrets=masked)
        id = before.key if before is not None else new_id()
        stored = msgspec.structs.replace(wanted, id=id, authentication=authentication)
        sealed = self._sealed.seal(id, msgspec.json.encode(list(secrets)).decode()) if secrets else None
        if before is None:
            return self._webhooks.plan_create(stored, actor, sealed)[1]
        if _same(stored, before) and list(secrets) == list(await self.secrets(before)):
            return ()
        return self._webhooks.plan_replace(stored, before, actor, sealed=sealed or b"")[1]

    def plan_remove(self, webhook: Webhook, actor: Actor) -> Sequence[Write]:
        """The writes that remove the webhook."""
        return self._webhooks.plan_delete(webhook, actor)

    async def announce(self, name: str) -> None:
        """Tells of a change, once it is committed."""
        await self._changes.tell(WEBHOOKS.name, name)

    async def renew_seals(self) -> Renewal:
        """Seals secrets under the current master key."""
        return await self._sealed.renew()


def _same(one: Webhook, other: Webhook) -> bool:
    return _content(one) == _content(other)


def _content(webhook: Webhook) -> tuple[object, ...]:
    return (
        webhook.name,
        webhook.description,
        webhook.authentication,
        webhook.event_type,
        webhook.type_header,
        webhook.data,
        webhook.channels,
    )
