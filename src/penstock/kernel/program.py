"""Programs that come as Python packages."""

import importlib.metadata
import shutil
from pathlib import Path

from penstock.kernel.errors import Unavailable


def installed_program(name: str, distribution: str) -> str:
    """The path of the program that the distribution brought, else of the one on PATH. Raises Unavailable."""
    try:
        files = importlib.metadata.files(distribution) or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.name == name:
            return str(Path(str(file.locate())).resolve())
    found = shutil.which(name)
    if found is None:
        raise Unavailable(f"{name} is not installed; the package {distribution} brings it")
    return found
