"""The release of Apache Camel that flows run on: version, parts and their checksums, all in this place.

The parts are those of Camel's own `camel-main` runtime with what flows use most; other components are fetched when a
flow needs them. `runtime.lock` lists every file with its SHA-256; `python -m penstock.flow.camel.relock` renews it.
"""

from functools import cache
from importlib.resources import files

from penstock.flow.camel.coordinate import Coordinate

VERSION = "4.18.0"
OLDEST_JAVA = 17
MAIN_CLASS = "org.apache.camel.main.Main"
GROUP = "org.apache.camel"
_LOG4J = "2.25.3"
_ARTIFACTS = (
    "camel-main",
    "camel-yaml-dsl",
    "camel-management",
    "camel-console",
    "camel-platform-http-main",
    "camel-timer",
    "camel-quartz",
    "camel-cron",
    "camel-direct",
    "camel-seda",
    "camel-file",
    "camel-log",
    "camel-http",
    "camel-sql",
    "camel-jackson",
    "camel-jsonpath",
)
ROOTS: tuple[Coordinate, ...] = (
    *(Coordinate(GROUP, artifact, VERSION) for artifact in _ARTIFACTS),
    Coordinate("org.apache.logging.log4j", "log4j-slf4j2-impl", _LOG4J),
    Coordinate("org.apache.logging.log4j", "log4j-layout-template-json", _LOG4J),
)


@cache
def locked() -> dict[Coordinate, str]:
    """Every file of the runtime in the order of the class path, with its SHA-256 in hexadecimal."""
    lines = files("penstock.flow.camel").joinpath("runtime.lock").read_text().splitlines()
    pairs = (line.split() for line in lines if line and not line.startswith("#"))
    return {Coordinate.parse(text): digest for text, digest in pairs}
