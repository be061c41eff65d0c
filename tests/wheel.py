"""Tiny packages with connector kinds, built as wheels by the tests themselves."""

import base64
import hashlib
import zipfile
from collections.abc import Mapping
from pathlib import Path

SOURCE = '''
"""A source that counts, and one that listens."""

import asyncio
import os
from typing import Annotated

from msgspec import Meta

from penstock.connectors.source import Finding, Findings, SourceFailed, SourceKind


class CountSource(SourceKind, frozen=True):
    """Counts on at each poll."""

    identifier = "acme-count"
    version = "{version}"
    requires_polling = True

    step: Annotated[int, Meta(ge=1, description="By how much.")] = 1
    fail: bool = False

    async def poll(self, position, surroundings):
        if self.fail:
            raise SourceFailed("told to fail", retry_after=1)
        if position is None:
            return Findings(position=0)
        count = position + self.step
        print("counting", count)
        data = {{"Count": count, "Environment": sorted(os.environ), "Bytes": len(os.environ.get("PATH", ""))}}
        found = Finding(key=str(count), type="acme.count", data=data)
        return Findings(found=[found], position=count)


class TickSource(SourceKind, frozen=True):
    """Emits by itself."""

    identifier = "acme-tick"
    version = "{version}"

    async def listen(self, position, emit, surroundings):
        await emit(Findings(position=position))
        count = position or 0
        while True:
            count += 1
            await emit(Findings(found=[Finding(key=str(count), type="acme.tick", data=count)], position=count))
            if count % 5 == 0:
                os._exit(3)
            await asyncio.sleep(0.01)
'''

COMPONENT = '''
"""A component that writes in capitals."""

import msgspec

from penstock.connectors.component import ComponentKind


class CapitalsComponent(ComponentKind, frozen=True):
    """Writes the data in capitals."""

    identifier = "acme-capitals"
    version = "{version}"

    def start(self, surroundings):
        async def apply(event):
            return msgspec.structs.replace(event, data=event.data.upper()) if event.data else None

        return apply
'''


def connector_wheel(folder: Path, name: str = "acme-connectors", version: str = "1.0.0") -> Path:
    """A package with two event sources, a component, and an entry point that cannot be loaded."""
    module = name.replace("-", "_")
    points = (
        "[penstock.connectors]\n"
        f"count = {module}.source:CountSource\n"
        f"tick = {module}.source:TickSource\n"
        f"capitals = {module}.component:CapitalsComponent\n"
        f"broken = {module}.nothing:Nothing\n"
    )
    files = {
        f"{module}/__init__.py": "",
        f"{module}/source.py": SOURCE.format(version=version),
        f"{module}/component.py": COMPONENT.format(version=version),
    }
    return wheel(folder, name, version, files, points, requires=["penstock>=0.1"])


def program_wheel(folder: Path, name: str, code: str, version: str = "1.0.0") -> Path:
    """A package with a program of its own name, which runs the code."""
    module = name.replace("-", "_")
    files = {f"{module}/__init__.py": "", f"{module}/main.py": f"def main():\n    {code}\n"}
    return wheel(folder, name, version, files, f"[console_scripts]\n{name} = {module}.main:main\n")


def wheel(
    folder: Path,
    name: str,
    version: str,
    files: Mapping[str, str],
    entry_points: str = "",
    requires: list[str] | None = None,
) -> Path:
    """Writes a wheel of pure Python into the folder."""
    module = name.replace("-", "_")
    info = f"{module}-{version}.dist-info"
    needed = "".join(f"Requires-Dist: {each}\n" for each in requires or [])
    whole = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needed}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": entry_points,
    }
    record = "".join(f"{path},sha256={_digest(text)},{len(text.encode())}\n" for path, text in whole.items())
    whole[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{module}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as archive:
        for path, text in whole.items():
            archive.writestr(path, text)
    return file


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
