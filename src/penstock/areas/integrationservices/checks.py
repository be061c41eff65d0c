"""What is wrong with a service that is to be saved, all of it at once."""

from collections.abc import Iterator

from penstock.areas.integrationservices.model import IntegrationService, IntegrationServiceProperty
from penstock.areas.integrationservices.property_types import TYPES, completed, type_of, value_problem
from penstock.areas.integrationservices.template import as_flow, names_of
from penstock.flow.choice import choose
from penstock.flow.parsing.problem import InvalidFlow
from penstock.kernel.errors import FieldError, Invalid
from penstock.kernel.names import name_errors, name_key

_LONGEST_TEXT = 4096
_LONGEST_SPECIFICATION = 1024 * 1024
_MOST = 200


def check_service(service: IntegrationService) -> None:
    """Raises Invalid."""
    errors = [
        *name_errors("Name", service.name),
        *_text_errors(service),
        *_property_errors(service),
        *_specification_errors(service),
    ]
    if not errors and service.variables:
        errors += completed(service.properties or (), service.variables, "Variables")[1]
    if errors:
        raise Invalid(errors)


def _text_errors(service: IntegrationService) -> Iterator[FieldError]:
    for field in ("title", "description", "category"):
        if len(getattr(service, field) or "") > _LONGEST_TEXT:
            yield FieldError(field.capitalize(), f"must have at most {_LONGEST_TEXT} characters")
    if len(service.variables or {}) > _MOST:
        yield FieldError("Variables", f"must be at most {_MOST}")


def _property_errors(service: IntegrationService) -> Iterator[FieldError]:
    properties = service.properties or []
    if len(properties) > _MOST:
        yield FieldError("Properties", f"must be at most {_MOST}")
        return
    seen: set[str] = set()
    for index, each in enumerate(properties):
        field = f"Properties[{index}]"
        yield from name_errors(f"{field}.Name", each.name)
        if name_key(each.name or "") in seen:
            yield FieldError(f"{field}.Name", f"'{each.name}' is given twice; names are compared without case")
        seen.add(name_key(each.name or ""))
        yield from _type_errors(field, each)


def _type_errors(field: str, declared: IntegrationServiceProperty) -> Iterator[FieldError]:
    if type_of(declared) not in TYPES:
        yield FieldError(f"{field}.Type", f"must be one of {', '.join(TYPES)}")
    elif declared.default is not None and (problem := value_problem(declared, declared.default)):
        yield FieldError(f"{field}.Default", problem)


def _specification_errors(service: IntegrationService) -> Iterator[FieldError]:
    specification = service.specification or ""
    if not specification.strip():
        yield FieldError("Specification", "is required: routes in Camel's YAML DSL, with {{NAME}} for its properties")
        return
    if len(specification) > _LONGEST_SPECIFICATION:
        yield FieldError("Specification", f"must have at most {_LONGEST_SPECIFICATION} characters")
        return
    known = {each.name for each in service.properties or ()} | set(service.variables or {})
    for name in sorted(names_of(specification) - known):
        yield FieldError("Specification", f"names {{{{{name}}}}}, which is neither a property nor a variable")
    try:
        choose(service.name or "service", "1", as_flow(specification))
    except InvalidFlow as error:
        for problem in error.problems:
            yield FieldError("Specification", f"line {problem.line}, column {problem.column}: {problem}")
