"""The packages that a flow needs beside Camel's runtime."""

from penstock.flow.camel.camel_document import CamelDocument
from penstock.flow.camel.coordinate import Coordinate
from penstock.flow.camel.release import GROUP, VERSION, locked
from penstock.flow.family import Family

_KAMELETS = "org.apache.camel.kamelets:camel-kamelets:4.18.0"

# What the catalog does not tell of: packages of steps, and those that a component works by.
_MORE = {
    (Family.STEP, "circuitBreaker"): f"{GROUP}:camel-resilience4j:{VERSION}",
    (Family.STEP, "rest"): f"{GROUP}:camel-rest:{VERSION}",
    (Family.STEP, "kamelet"): _KAMELETS,
    (Family.COMPONENT, "kamelet"): _KAMELETS,
    (Family.COMPONENT, "cron"): f"{GROUP}:camel-quartz:{VERSION}",
}


def needed_packages(source: str) -> set[str]:
    """Maven coordinates, without those of the runtime."""
    present = {coordinate.library for coordinate in locked()}
    uses = CamelDocument.read(source).uses
    packages = {use.package for use in uses} | {_MORE.get((use.family, use.name), "") for use in uses}
    found = {package for package in packages if package}
    return {package for package in found if Coordinate.parse(package).library not in present}
