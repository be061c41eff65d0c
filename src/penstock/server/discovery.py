"""Finds the areas by their folders."""

import pkgutil
from collections.abc import Sequence
from importlib import import_module

import penstock.areas
from penstock.resource.area import Area


def find_areas() -> Sequence[Area]:
    """Every folder of `penstock.areas` that exports an AREA, in name order. Raises TypeError for one without."""
    areas = []
    for module in sorted(pkgutil.iter_modules(penstock.areas.__path__), key=lambda found: found.name):
        area = getattr(import_module(f"penstock.areas.{module.name}"), "AREA", None)
        if not isinstance(area, Area):
            raise TypeError(f"penstock.areas.{module.name} exports no AREA")
        areas.append(area)
    return areas
