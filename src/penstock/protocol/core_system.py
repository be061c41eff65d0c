"""Core systems as the API shows them (specification 1, "Integration resources")."""

from penstock.kernel.wire import Map, Wire


class CoreSystem(Wire):
    """A core system. Category `storage`: files can be transferred from and to it; Type is then the kind of storage.

    Variables: what is needed to reach it. Secrets among them are answered as `********`.
    """

    name: str | None = None
    title: str | None = None
    description: str | None = None
    category: str | None = None
    type: str | None = None
    variables: Map | None = None


class CoreSystem2(CoreSystem):
    """The same, where core systems themselves are read and written."""
