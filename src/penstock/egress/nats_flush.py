"""Waiting until a NATS server has what was sent."""

from nats.aio.client import Client


async def flushed(client: Client, seconds: int) -> None:
    """Returns when the server has taken everything that was sent before. Raises nats.errors.Error.

    The client's own flush sends its ping ahead of what still waits to be sent, and so is answered too soon; once the
    answer is there, nothing waits any more.
    """
    await client.flush(seconds)
    await client.flush(seconds)
