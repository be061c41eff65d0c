"""Signed messages: how an agent knows that a server sent what came on its subject.

An agent may name another agent's subject as its reply subject, and the answer to it, though
harmless in itself, arrives there. So agents believe signed messages only.
"""

import base64
import binascii

import structlog
from cryptography.exceptions import InvalidSignature

from penstock.bus.message import Received
from penstock.bus.nkeys import NKey, verify
from penstock.bus.subscription import Handler

_log = structlog.get_logger(__name__)
_SIGNATURE = "Penstock-Signature"


def signature(signer: NKey, subject: str, body: bytes) -> dict[str, str]:
    """The headers that make a message on `subject` believed; other headers are not covered."""
    return {_SIGNATURE: base64.b64encode(signer.sign(_covered(subject, body))).decode()}


def is_signed(signer: str, message: Received) -> bool:
    """signer: the public key."""
    try:
        given = base64.b64decode(message.headers.get(_SIGNATURE, ""), validate=True)
        verify(signer, given, _covered(message.subject, message.data))
    except (InvalidSignature, binascii.Error):
        return False
    return True


def signed_only(signer: str, handler: Handler) -> Handler:
    """A handler that gets signed messages only; others are dropped and logged."""

    async def handle(message: Received) -> None:
        if is_signed(signer, message):
            await handler(message)
        else:
            _log.warning("message without a valid signature dropped", subject=message.subject)

    return handle


def _covered(subject: str, body: bytes) -> bytes:
    return subject.encode() + b"\n" + body
