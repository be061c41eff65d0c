"""The one list of all components, steps, languages and data formats, found by folder."""

import importlib
import pkgutil
from functools import cache
from types import ModuleType

from penstock.flow.component import Component
from penstock.flow.dataformat import DataFormat
from penstock.flow.element import Element
from penstock.flow.family import FOLDERS, Family
from penstock.flow.language import Language
from penstock.flow.step import Step

_BASES: dict[Family, type[Element]] = {
    Family.COMPONENT: Component,
    Family.STEP: Step,
    Family.LANGUAGE: Language,
    Family.DATA_FORMAT: DataFormat,
}


class Registry:
    """The elements that flows can be written with.

    Each module of a family's folder declares exactly one element; a name declared twice, or a module
    without element, raises TypeError when the list is made.
    """

    def __init__(self, package: str) -> None:
        self._elements: dict[Family, dict[str, type[Element]]] = {
            family: _discover(f"{package}.{FOLDERS[family]}", base) for family, base in _BASES.items()
        }

    def find(self, family: Family, name: str) -> type[Element] | None:
        return self._elements[family].get(name)

    def names(self, family: Family) -> list[str]:
        return sorted(self._elements[family])


@cache
def registry() -> Registry:
    """The elements of this engine."""
    return Registry("penstock.flow")


def _discover(folder: str, base: type[Element]) -> dict[str, type[Element]]:
    found: dict[str, type[Element]] = {}
    package = importlib.import_module(folder)
    for module in pkgutil.iter_modules(package.__path__, f"{folder}."):
        for name, element in _declared(importlib.import_module(module.name), base).items():
            if name in found:
                raise TypeError(f"'{name}' is declared twice in {folder}")
            found[name] = element
    return found


def _declared(module: ModuleType, base: type[Element]) -> dict[str, type[Element]]:
    own = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, base) and value.__module__ == module.__name__
    ]
    if len(own) != 1 or not own[0].element:
        raise TypeError(f"{module.__name__} must declare exactly one {base.__name__} with a name")
    return dict.fromkeys((own[0].element, *own[0].also), own[0])
