"""A flow in the audit log: all of it but what may be large or told in confidence."""

from penstock.areas.flows.model import Flow
from penstock.kernel.wire import Wire
from penstock.protocol.capability import Requirement
from penstock.protocol.work import FlowFile, IntegrationStatusEnum2


class AuditedFlow(Wire):
    """Variables: their names; what is public in one version may be a password in the next. Files: their hashes."""

    name: str
    version: str
    requested_status: IntegrationStatusEnum2
    project: str | None = None
    category: str | None = None
    labels: list[str] | None = None
    flow_spec: str = ""
    variables: list[str] = []
    files: list[FlowFile] = []
    additional_packages: str | None = None
    requirements: list[Requirement] = []
    schedule: str | None = None


def trail_of(flow: Flow) -> AuditedFlow:
    """The flow as the audit log shows it."""
    return AuditedFlow(
        name=flow.name,
        version=flow.version,
        requested_status=flow.requested_status,
        project=flow.project,
        category=flow.category,
        labels=flow.labels,
        flow_spec=flow.flow_spec,
        variables=sorted(flow.variables or ()),
        files=flow.integration_files or [],
        additional_packages=flow.additional_packages,
        requirements=flow.requirements,
        schedule=flow.schedule,
    )
