"""The configuration kind Schedule."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated

import msgspec

from penstock.areas.schedules.model import FLOW_PREFIX, Schedule
from penstock.areas.schedules.service import ScheduleService
from penstock.areas.schedules.streams import ScheduleStreams
from penstock.kernel.actor import Actor
from penstock.kernel.cron import Cron, CronError
from penstock.kernel.errors import FieldError, Invalid
from penstock.kernel.names import name_errors, name_key
from penstock.protocol.web_job import PREFIX as WEB_JOB_PREFIX
from penstock.resource.kind import Metadata, Spec, Step
from penstock.resource.resource_kind import ResourceKind
from penstock.store.write import Write

_LONGEST_NAME = 128 - len(FLOW_PREFIX)
_LONGEST_TEXT = 64 * 1024
_MOST_ARGS = 1000
_LONGEST_REQUIREMENT = 256


class ScheduleSpec(Spec):
    """A command that runs on a cron schedule, on every agent that meets the requirements."""

    cron: Annotated[
        str,
        msgspec.Meta(
            description="Six fields: seconds minutes hours day-of-month month day-of-week (1-7 is MON-SUN), in the "
            "time zone of each agent. `* ? - , /` as usual; one of the day fields must be `?` or `*`."
        ),
    ]
    command: Annotated[str, msgspec.Meta(description="Program to run, without a shell; it must exist on the agent.")]
    args: Annotated[
        list[str],
        msgspec.Meta(description="Arguments, each passed as it is. `{{var:NAME}}` is replaced when the command runs."),
    ] = []
    requirements: Annotated[
        dict[str, str],
        msgspec.Meta(
            description="Capabilities that an agent must have, such as Environment: prod. Keys are compared without "
            "case, values exactly. Without any, every agent runs it."
        ),
    ] = {}


class ScheduleKind(ResourceKind[ScheduleSpec, Schedule]):
    """A scheduled command. Makes the flow and the stream `schedule-<name>`; runs may overlap and are not retried."""

    kind = "Schedule"
    spec = ScheduleSpec

    def __init__(self, service: ScheduleService, streams: ScheduleStreams) -> None:
        super().__init__(service)
        self._service = service
        self._streams = streams

    async def plan_put(
        self, metadata: Metadata, spec: ScheduleSpec, before: Schedule | None, actor: Actor
    ) -> tuple[Schedule, Sequence[Write]]:
        errors = [*_name_errors(metadata), *_spec_errors(spec)]
        if errors:
            raise Invalid(errors)
        wanted = Schedule(
            name=before.name if before is not None else metadata.name,
            description=metadata.description,
            cron=" ".join(spec.cron.split()),
            command=spec.command,
            arguments=spec.args,
            requirements=spec.requirements,
        )
        return wanted, await self._service.plan_put(wanted, before, actor)

    def placed(self, error: Invalid) -> Invalid:
        return error

    def prepare(self, entity: Schedule) -> Sequence[Step]:
        return [partial(self._streams.ensure, entity.name)]

    def clear(self, entity: Schedule) -> Sequence[Step]:
        return [partial(self._streams.remove, entity.name)]

    def shown(self, entity: Schedule) -> ScheduleSpec:
        return ScheduleSpec(
            cron=entity.cron,
            command=entity.command,
            args=entity.arguments,
            requirements=entity.requirements,
        )


def _name_errors(metadata: Metadata) -> list[FieldError]:
    if name_key(metadata.name).startswith(WEB_JOB_PREFIX):
        return [FieldError("metadata.name", f"must not begin with {WEB_JOB_PREFIX}: the ledger knows web jobs so")]
    return name_errors("metadata.name", metadata.name, _LONGEST_NAME)


def _spec_errors(spec: ScheduleSpec) -> list[FieldError]:
    errors = _cron_errors(spec.cron) + _text_errors("spec.command", spec.command)
    if not spec.command.strip():
        errors.append(FieldError("spec.command", "is required"))
    if len(spec.args) > _MOST_ARGS:
        errors.append(FieldError("spec.args", f"must be at most {_MOST_ARGS}"))
    for index, arg in enumerate(spec.args):
        errors += _text_errors(f"spec.args[{index}]", arg)
    for key, value in spec.requirements.items():
        if not key.strip() or len(key) > _LONGEST_REQUIREMENT or len(value) > _LONGEST_REQUIREMENT:
            field = f"spec.requirements.{key}" if key.strip() else "spec.requirements"
            message = f"needs a name, and at most {_LONGEST_REQUIREMENT} characters in name and value"
            errors.append(FieldError(field, message))
    return errors


def _cron_errors(cron: str) -> list[FieldError]:
    try:
        Cron.parse(cron)
    except CronError as error:
        return [FieldError("spec.cron", str(error))]
    return []


def _text_errors(field: str, text: str) -> list[FieldError]:
    if "\0" in text or len(text) > _LONGEST_TEXT:
        return [FieldError(field, f"must have at most {_LONGEST_TEXT} characters and no NUL")]
    return []
