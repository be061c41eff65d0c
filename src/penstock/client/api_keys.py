"""Keys of subscriptions to published APIs, as Python calls."""

from urllib.parse import quote

import msgspec

from penstock.client.client import Client
from penstock.client.model import Answered
from penstock.kernel.duration import Duration


class Renewed(Answered):
    """A subscription whose key was renewed, with the new one in clear."""

    key: str


class ApiKeys:
    """For Admins."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def show(self, subscription: str) -> str:
        """The key; that it was shown is on record. Raises NotFound."""
        key: str = self._client.read(_path(subscription))
        return key

    def renew(self, subscription: str, overlap: Duration | None = None) -> str:
        """A new key. overlap: how long the one before holds on; a day unless given. Raises NotFound."""
        body = {} if overlap is None else {"Overlap": str(overlap)}
        return msgspec.json.decode(self._client.send("POST", _path(subscription), body=body), type=Renewed).key

    def revoke(self, subscription: str) -> None:
        """All its keys stop within a second. Raises NotFound."""
        self._client.send("DELETE", _path(subscription))


def _path(subscription: str) -> str:
    return f"/apim/subscriptions/{quote(subscription, safe='')}/key"
