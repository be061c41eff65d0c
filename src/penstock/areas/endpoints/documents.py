"""Endpoints as configuration documents."""

from collections.abc import Sequence

import msgspec

from penstock.areas.endpoints.kinds.integration_endpoint import IntegrationEndpointKind, shown_spec
from penstock.areas.endpoints.stored import StoredEndpoint


def as_documents(endpoints: Sequence[StoredEndpoint]) -> str:
    """By name, as `PUT /configuration` takes them: JSON is YAML. Secrets are masked."""
    return "\n---\n".join(_encoded(endpoint) for endpoint in sorted(endpoints, key=lambda each: each.name.casefold()))


def _encoded(endpoint: StoredEndpoint) -> str:
    document = {
        "apiVersion": "penstock/v1alpha1",
        "kind": IntegrationEndpointKind.kind,
        "metadata": {"name": endpoint.name, "description": endpoint.description},
        "spec": shown_spec(endpoint),
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()
