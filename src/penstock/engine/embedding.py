"""What a server and the engine that it starts say to each other over their pipe."""

from collections.abc import Sequence

import msgspec

READY = b"ready\n"


class Embedding(msgspec.Struct, frozen=True):
    """What a server tells its engine on standard input, which it then keeps open. servers: of the bus."""

    servers: Sequence[str]
    jwt: str
    seed: str
