"""What a web job may say."""

import re
import shlex
from typing import Any

from penstock.areas.webjobs.model import LONGEST_NAME, WebJobEntity
from penstock.kernel.cron import Cron, CronError
from penstock.kernel.errors import FieldError, Invalid
from penstock.kernel.names import name_errors
from penstock.packages.environment import Package
from penstock.resource.matching import requirement_errors

_LONGEST_TEXT = 64 * 1024
_MOST = 100
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII)
_PLATFORM = "PENSTOCK_"


def check(job: WebJobEntity) -> None:
    """Raises Invalid with everything that is wrong."""
    errors = name_errors("Name", job.name)
    if not errors and len(job.name or "") > LONGEST_NAME:
        errors.append(FieldError("Name", f"must have at most {LONGEST_NAME} characters"))
    errors += [
        *_command_errors(job),
        *_package_errors(job),
        *_cron_errors(job),
        *requirement_errors(job.requirements or ()),
        *_environment_errors(job.environment_variables or {}),
    ]
    if errors:
        raise Invalid(errors)


def arguments_of(job: WebJobEntity) -> list[str]:
    """The arguments, split as a shell does. Raises ValueError."""
    return shlex.split(job.command_arguments or "")


def _command_errors(job: WebJobEntity) -> list[FieldError]:
    errors = _text_errors("Command", job.command) + _text_errors("CommandArguments", job.command_arguments)
    if not (job.program).strip():
        errors.append(FieldError("Command", "is required, unless PackageId names a package with a program of its name"))
    try:
        arguments_of(job)
    except ValueError as error:
        errors.append(FieldError("CommandArguments", f"cannot be split into arguments: {str(error).lower()}"))
    return errors


def _package_errors(job: WebJobEntity) -> list[FieldError]:
    if not job.package_id:
        return [FieldError("PackageVersion", "needs a PackageId")] if job.package_version else []
    try:
        Package.checked(job.package_id, job.package_version, ("PackageId", "PackageVersion"))
    except Invalid as error:
        return list(error.errors)
    return []


def _cron_errors(job: WebJobEntity) -> list[FieldError]:
    if not job.cron_expression:
        return []
    try:
        Cron.parse(job.cron_expression)
    except CronError as error:
        return [FieldError("CronExpression", str(error))]
    if job.time_to_live is not None:
        return [FieldError("TimeToLive", "is not for web jobs with a CronExpression: their flow would stay")]
    return []


def _environment_errors(variables: dict[str, Any]) -> list[FieldError]:
    if len(variables) > _MOST:
        return [FieldError("EnvironmentVariables", f"must be at most {_MOST}")]
    return [error for name, value in variables.items() for error in _variable_errors(name, value)]


def _variable_errors(name: str, value: Any) -> list[FieldError]:
    field = f"EnvironmentVariables.{name}"
    if not _VARIABLE.fullmatch(name):
        return [FieldError(field, "must have a name of A-Z a-z 0-9 _ that does not begin with a digit")]
    if name.startswith(_PLATFORM):
        return [FieldError(field, f"is the platform's own: names must not begin with {_PLATFORM}")]
    if value is not None and not isinstance(value, str | int | float):
        return [FieldError(field, "must be a text, a number, true or false")]
    return _text_errors(field, value) if isinstance(value, str) else []


def _text_errors(field: str, text: str | None) -> list[FieldError]:
    if text is not None and ("\0" in text or len(text) > _LONGEST_TEXT):
        return [FieldError(field, f"must have at most {_LONGEST_TEXT} characters and no NUL")]
    return []
