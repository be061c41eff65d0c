"""What is checked of a file transfer before it is stored."""

from collections.abc import Mapping

from penstock.areas.transfers.model import MftIntegration2, MftStorage
from penstock.areas.transfers.stored import Mft
from penstock.kernel.cron import Cron, CronError
from penstock.kernel.errors import FieldError
from penstock.kernel.names import name_errors
from penstock.rclone.arguments import read_arguments
from penstock.rclone.filters import read_filters
from penstock.rclone.transfer import TransferCommand
from penstock.resource.matching import requirement_errors
from penstock.resource.ports.core_systems import CoreSystems

_TAKEN = ("filetransfers", "history")  # addresses of lists
_LONGEST_TEXT = 1024
_LONGEST_ARGS = 16 * 1024
_LONGEST_FILTERS = 64 * 1024
_MOST_VARIABLES = 200


async def missing_storages(wanted: MftIntegration2 | Mft, systems: CoreSystems) -> dict[str, str]:
    """The core systems that it names and that do not exist: field -> name."""
    named = {"Source.Name": wanted.source, "Destination.Name": wanted.destination}
    return {
        field: storage.name
        for field, storage in named.items()
        if storage is not None and storage.name and await systems.known(storage.name) is None
    }


def missing_errors(missing: Mapping[str, str]) -> list[FieldError]:
    return [FieldError(field, f"core system '{name}' does not exist") for field, name in missing.items()]


async def errors_of(wanted: MftIntegration2, systems: CoreSystems) -> list[FieldError]:
    """Everything that is wrong with it, but for core systems that do not exist."""
    errors = name_errors("Name", wanted.name)
    if (wanted.name or "").casefold() in _TAKEN:
        errors.append(FieldError("Name", f"must not be one of {', '.join(_TAKEN)}: they are addresses of lists"))
    if wanted.command not in [*TransferCommand]:
        errors.append(FieldError("Command", f"must be one of {', '.join(TransferCommand)}"))
    if wanted.additional_packages:
        errors.append(FieldError("AdditionalPackages", "must be empty: file transfers take no packages"))
    return [
        *errors,
        *_schedule_errors(wanted.schedule),
        *_text_errors(wanted),
        *requirement_errors(wanted.requirements or ()),
        *await _storage_errors("Source", wanted.source, systems),
        *await _storage_errors("Destination", wanted.destination, systems),
        *read_arguments(wanted.args or "")[1],
        *read_filters(wanted.filters or "")[1],
    ]


def _schedule_errors(schedule: str | None) -> list[FieldError]:
    if not schedule:
        return []
    try:
        Cron.parse(schedule)
    except CronError as error:
        return [FieldError("Schedule", str(error))]
    return []


def _text_errors(wanted: MftIntegration2) -> list[FieldError]:
    longest = {
        "Project": (wanted.project, _LONGEST_TEXT),
        "Labels": (wanted.labels, _LONGEST_TEXT),
        "FlowName": (wanted.flow_name, _LONGEST_TEXT),
        "Args": (wanted.args, _LONGEST_ARGS),
        "Filters": (wanted.filters, _LONGEST_FILTERS),
    }
    errors = [
        FieldError(field, f"must have at most {most} characters and no NUL")
        for field, (text, most) in longest.items()
        if len(text or "") > most or "\0" in (text or "")
    ]
    if len(wanted.variables or {}) > _MOST_VARIABLES:
        errors.append(FieldError("Variables", f"must be at most {_MOST_VARIABLES}"))
    return errors + [
        FieldError(f"Variables.{name}", "must be a text, a number, true or false")
        for name, value in (wanted.variables or {}).items()
        if not isinstance(value, str | int | float | bool)
    ]


async def _storage_errors(field: str, storage: MftStorage | None, systems: CoreSystems) -> list[FieldError]:
    if storage is None or not storage.name:
        return [FieldError(f"{field}.Name", "is required: the name of a core system of category storage")]
    if len(storage.path or "") > _LONGEST_TEXT or "\0" in (storage.path or ""):
        return [FieldError(f"{field}.Path", f"must have at most {_LONGEST_TEXT} characters and no NUL")]
    system = await systems.known(storage.name)
    if system is not None and not system.is_storage:
        return [FieldError(f"{field}.Name", f"core system '{storage.name}' is no storage: its category is not storage")]
    return []
