"""The folder of one running version of a flow: its text and files, and what Java and Camel are told."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from penstock.flow.camel.log_line import TEMPLATE
from penstock.flow.camel.properties import properties
from penstock.flow.camel.release import MAIN_CLASS

_ROUTES = "routes"
_PROPERTIES = "camel.properties"
_LOGGING = "log4j2.properties"
_ARGUMENTS = "java.arguments"
_QUIET = (
    "org.apache.camel.component.platform.http.main",
    "org.apache.camel.component.platform.http.vertx",
    "io.netty",
    "org.apache.camel.main",
    "org.quartz",
)


class Workspace(msgspec.Struct, frozen=True):
    """folder: of this version alone, readable by the owner only."""

    folder: Path

    def write(self, texts: Mapping[str, str], values: Mapping[str, str]) -> None:
        """texts: Camel's YAML by file name. values: Camel's properties, secrets among them."""
        self.remove()
        for part in ("home", "tmp", _ROUTES):
            (self.folder / part).mkdir(mode=0o700, parents=True)
        self.folder.chmod(0o700)
        for name, text in texts.items():
            self._write(f"{_ROUTES}/{name}", text)
        routes = ",".join(f"file:{self.folder / _ROUTES / name}" for name in texts)
        self._write(_PROPERTIES, properties({**values, "camel.main.routesIncludePattern": routes}))
        self._write(_LOGGING, properties(_logging()))

    def arguments(self, class_path: Sequence[Path], options: Sequence[str]) -> list[str]:
        """Java's command line; the long part of it is in a file. options: of Java."""
        lines = [
            *options,
            f"-Duser.home={self.folder / 'home'}",
            f"-Djava.io.tmpdir={self.folder / 'tmp'}",
            f"-Dlog4j2.configurationFile={self.folder / _LOGGING}",
            "-cp",
            ":".join(str(entry) for entry in class_path),
        ]
        self._write(_ARGUMENTS, "".join(f"{_quoted(line)}\n" for line in lines))
        return [f"@{self.folder / _ARGUMENTS}", MAIN_CLASS, "-pl", f"file:{self.folder / _PROPERTIES}"]

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def _write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.touch(mode=0o600)
        path.write_text(text)


def _quoted(argument: str) -> str:
    """As Java's argument files want it."""
    escaped = argument.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _logging() -> dict[str, str]:
    quiet = {
        key: value
        for place, name in enumerate(_QUIET)
        for key, value in ((f"logger.q{place}.name", name), (f"logger.q{place}.level", "WARN"))
    }
    return {
        "status": "ERROR",
        "appender.out.type": "Console",
        "appender.out.name": "out",
        "appender.out.layout.type": "JsonTemplateLayout",
        "appender.out.layout.eventTemplate": TEMPLATE,
        "appender.out.layout.maxStringLength": "65536",
        "rootLogger.level": "INFO",
        "rootLogger.appenderRef.out.ref": "out",
        **quiet,
    }
