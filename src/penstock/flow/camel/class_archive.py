"""An archive of the runtime's classes as Java has loaded them, which makes every later start quicker and smaller."""

import hashlib
import subprocess
import tempfile
from pathlib import Path

from penstock.flow.camel.installation import CamelInstallation
from penstock.flow.camel.java import Java
from penstock.flow.camel.workspace import Workspace

_SECONDS = 120
_RUN_SECONDS = "1"
_FLOW = """
- route:
    from:
      uri: timer:warm?repeatCount=3&period=50
      steps:
        - setHeader: {name: a, simple: "${body}"}
        - choice: {when: [{simple: "${header.a} == 1", steps: [{setBody: {constant: b}}]}]}
        - split: {tokenize: ",", steps: [{log: "${body}"}]}
        - to: direct:warm
- from: {uri: "direct:warm", steps: [{doTry: {steps: [{log: a}]}}]}
- from: {uri: "platform-http:/warm", steps: [{unmarshal: {json: {}}}]}
"""
_VALUES = {
    "camel.main.useMdcLogging": "true",
    "camel.main.devConsoleEnabled": "true",
    "camel.management.enabled": "true",
    "camel.management.host": "127.0.0.1",
    "camel.management.port": "0",
    "camel.management.devConsoleEnabled": "true",
    "camel.server.enabled": "true",
    "camel.server.host": "127.0.0.1",
    "camel.server.port": "0",
}


def archive_options(installation: CamelInstallation, java: Java) -> list[str]:
    """Options of Java that use the archive; none when there is none for this Java."""
    archive = _archive(installation, java)
    # One that does not fit is left out by Java, which shall not put that into the flow's log.
    return [f"-XX:SharedArchiveFile={archive}", "-Xshare:auto", "-Xlog:cds=off"] if archive.exists() else []


def make_archive(installation: CamelInstallation, java: Java) -> bool:
    """Makes the archive by running Camel once, for some seconds. Answers whether there is one now."""
    archive = _archive(installation, java)
    if archive.exists():
        return True
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(Path(folder) / "run")
        workspace.write({"warm.yaml": _FLOW}, _VALUES)
        made = Path(folder) / "classes.jsa"
        options = [f"-XX:ArchiveClassesAtExit={made}", "-XX:+UseSerialGC", "-Xmx256m"]
        arguments = workspace.arguments(installation.class_path, options)
        try:
            subprocess.run(  # noqa: S603 - the Java that flows run on
                [java.program, *arguments, "-duration", _RUN_SECONDS],
                capture_output=True,
                timeout=_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
        if not made.exists():
            return False
        made.chmod(0o644)
        partial = archive.with_suffix(".part")
        partial.write_bytes(made.read_bytes())
        partial.rename(archive)
    return True


def _archive(installation: CamelInstallation, java: Java) -> Path:
    """Another Java, or the same one renewed, needs another archive."""
    program = java.program.resolve()
    identity = hashlib.sha256(f"{program} {program.stat().st_mtime_ns}".encode()).hexdigest()[:16]
    return installation.folder / f"classes-{identity}.jsa"
