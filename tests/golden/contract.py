"""The published interface as data, read from contract.txt."""

import re
from dataclasses import dataclass, field
from pathlib import Path

ENTITY_BASE = (
    "Id:guid ETag:str CreatedBy:str CreatedDate:dt* UpdatedBy:str UpdateDate:dt TimeToLive:int32 IsDeleted:bool*"
)


@dataclass(frozen=True)
class ContractOperation:
    """parameters: (place, name, type, required); body: type or None; responses: status -> type."""

    method: str
    path: str
    parameters: frozenset[tuple[str, str, str, bool]]
    body: str | None
    responses: dict[str, str]


@dataclass
class Contract:
    """types: name -> {field: (type, required)} in order; enumerations: name -> values as text."""

    operations: dict[tuple[str, str], ContractOperation] = field(default_factory=dict)
    types: dict[str, dict[str, tuple[str, bool]]] = field(default_factory=dict)
    enumerations: dict[str, list[str]] = field(default_factory=dict)


def read_contract() -> Contract:
    """Reads the file beside this module."""
    contract, section = Contract(), ""
    for line in (Path(__file__).parent / "contract.txt").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            section = line
        elif section == "[operations]":
            operation = _operation(line)
            contract.operations[operation.method, operation.path] = operation
        elif section == "[types]":
            name, _, rest = line.partition(" ")
            contract.types[name] = _fields(rest.replace("[E]", ENTITY_BASE, 1) if rest.startswith("[E]") else rest)
        else:
            name, *values = line.split(" ")
            contract.enumerations[name] = values
    return contract


def _operation(line: str) -> ContractOperation:
    head, _, tail = line.partition(" -> ")
    method, path, *inputs = head.split(" ")
    bodies = [text.removeprefix("body:") for text in inputs if text.startswith("body:")]
    parameters = {
        (place, name, kind.rstrip("*"), kind.endswith("*"))
        for place, name, kind in (text.split(":") for text in inputs if not text.startswith("body:"))
    }
    responses = dict(response.split("=") for response in tail.split(" "))
    return ContractOperation(method, path, frozenset(parameters), bodies[0] if bodies else None, responses)


def _fields(text: str) -> dict[str, tuple[str, bool]]:
    pairs = (re.split(":", part) for part in text.split(" ") if part)
    return {name: (kind.rstrip("*"), kind.endswith("*")) for name, kind in pairs}
