"""What the program `penstock.flow.camel.fetching` is told, and what it answers."""

import msgspec


class Order(msgspec.Struct, frozen=True):
    """packages: Maven coordinates. folder: where to keep them. runtime: where the runtime's own jars are."""

    packages: list[str]
    folder: str
    runtime: str
    mirror: str


class Fetched(msgspec.Struct, frozen=True):
    """jars: what a class path needs beside the runtime. problem: why there is none, None when there is."""

    jars: list[str] = []
    problem: str | None = None
