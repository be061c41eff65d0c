"""Flows as Python calls."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote

import msgspec

from penstock.client.client import Client
from penstock.client.model import Answered

_PATH = "/integrations/flows"


class FlowStatistics(Answered):
    """What a flow counts on an agent; times in milliseconds."""

    exchanges_total: int = 0
    exchanges_failed: int = 0
    exchanges_inflight: int = 0
    exchanges_throughput: str | None = None
    mean_processing_time: int = 0
    since_last_completed_exchange: str | None = None


class FlowDetail(Answered):
    """A flow as it runs in a process."""

    pid: int = 0
    state: str | None = None
    up_time: str | None = None
    integration_file_path: str | None = None
    working_directory: str | None = None
    statistics: FlowStatistics | None = None


class FlowOnAgent(Answered):
    """How a flow stands on one agent. status: 0 running, 1 error, 2 stopped, 3 unknown. message: what is wrong."""

    agent: str
    status: int
    update_time: datetime
    version: str | None = None
    flow_engine_version: str | None = None
    message: str | None = None
    detail: FlowDetail | None = None


class Flows:
    """The flows of a server."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def save(
        self,
        name: str,
        spec: str,
        *,
        start: bool,
        files: Mapping[str, str] | None = None,
        variables: Mapping[str, str] | None = None,
        requirements: Mapping[str, str] | None = None,
        packages: Sequence[str] = (),
    ) -> None:
        """Saves a flow as its next version. spec: Camel's YAML DSL. start: whether it is to run from now on.

        files: contents by name. Raises Invalid with every mistake.
        """
        body: dict[str, Any] = {
            "Name": name,
            "FlowSpec": spec,
            "IntegrationFiles": [{"FileName": file, "FileContent": text} for file, text in (files or {}).items()],
            "Variables": dict(variables or {}),
            "Requirements": [{"Identifier": key, "Value": value} for key, value in (requirements or {}).items()],
            "AdditionalPackages": "\n".join(packages) or None,
        }
        self._client.send("POST" if start else "PUT", _PATH, body=body)

    def start(self, name: str) -> None:
        """Requests that the flow runs."""
        self._client.send("POST", f"{_PATH}/start", {"integrationFlowName": name})

    def stop(self, name: str) -> None:
        """Requests that the flow runs nowhere."""
        self._client.send("POST", f"{_PATH}/stop", {"integrationFlowName": name})

    def delete(self, name: str) -> None:
        """Deletes the flow."""
        self._client.send("DELETE", _path(name))

    def restore(self, name: str, version: str) -> None:
        """Saves an earlier version again, as the latest."""
        self._client.send("POST", f"{_path(name)}/versions/{quote(version, safe='')}/restore")

    def version(self, name: str) -> str:
        """The latest version of the flow."""
        version: str = self._client.read(_path(name))["Version"]
        return version

    def on_agents(self, name: str) -> list[FlowOnAgent]:
        """The flow on each agent that it matches."""
        return msgspec.json.decode(self._client.send("GET", f"{_path(name)}/agents"), type=list[FlowOnAgent])


def _path(name: str) -> str:
    return f"{_PATH}/{quote(name, safe='')}"
