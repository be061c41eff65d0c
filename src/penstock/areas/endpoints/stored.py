"""How endpoints are stored."""

from penstock.kernel.entity import Entity
from penstock.protocol.capability import Requirement
from penstock.resource.assignment_states import states_collection
from penstock.resource.coverage import Unmatched
from penstock.store.definition import Collection, Column, ColumnType


class StoredEndpoint(Entity):
    """Secrets are masked in the configuration (JSON) and sealed beside it.

    references: variables in the configuration, secrets included. stamp: differs whenever agents must learn something
    new, or begin anew.
    """

    name: str
    api_name: str
    api_version: str
    route: str
    configuration: str = "{}"
    description: str | None = None
    requirements: list[Requirement] = []
    references: list[str] = []
    stamp: str = ""


ENDPOINTS: Collection[StoredEndpoint] = Collection(
    "integration_endpoints",
    StoredEndpoint,
    (
        Column("name", lambda endpoint: endpoint.name, ColumnType.KEY, unique=True),
        Column("route", lambda endpoint: endpoint.route, ColumnType.KEY, unique=True),
    ),
)
ENDPOINT_STATES = states_collection("endpoint_agent_states")
UNMATCHED_ENDPOINTS: Collection[Unmatched] = Collection("unmatched_endpoints", Unmatched)
