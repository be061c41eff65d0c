"""A kind of thing that `penstock get` shows."""

from dataclasses import dataclass

from penstock.cli.column import Column


@dataclass(frozen=True)
class Listing:
    """A kind of thing.

    path: where all of them are. item: where one of that name is; None where the server has no such operation.
    keys: the fields that a name given is compared with.
    of: what the name given is, where it does not name one of them but the thing that they belong to.
    owner: the kind whose Id the path takes, where it takes no name.
    rows: the field of the answer that has them, where it is not the answer itself.
    """

    name: str
    aliases: tuple[str, ...]
    path: str
    columns: tuple[Column, ...]
    item: str | None = None
    keys: tuple[str, ...] = ("Name",)
    of: str | None = None
    owner: "Listing | None" = None
    rows: str | None = None
