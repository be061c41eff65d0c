"""Starts Java processes that run flows: their class path, their properties, their ports."""

import asyncio
import secrets
import socket
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import httpx

from penstock.flow.camel.class_archive import archive_options
from penstock.flow.camel.class_path import ClassPaths
from penstock.flow.camel.console import Console
from penstock.flow.camel.data_source import VARIABLE, data_source
from penstock.flow.camel.flow_process import FlowProcess, HttpSide
from penstock.flow.camel.installation import CamelInstallation
from penstock.flow.camel.java import Java, find_java
from penstock.flow.camel.needs import needed_packages
from penstock.flow.camel.process import JavaProcess
from penstock.flow.camel.settings import CamelSettings
from penstock.flow.camel.translation import KEY, Translation, translate
from penstock.flow.camel.workspace import Workspace
from penstock.flow.definition import FlowDefinition
from penstock.flow.listener import FlowListener
from penstock.flow.variables import Variables
from penstock.kernel.clock import Clock
from penstock.kernel.ids import new_id

HOST = "127.0.0.1"
_PACKAGES = "packages"
_RUNS = "runs"
_UNSAFE_IS_TOLD = 24  # from this Java on, a line of warning about a library on each start


class Prepared(NamedTuple):
    """A flow with all that its process is started with. values: Camel's properties. options: of Java."""

    definition: FlowDefinition
    variables: Variables
    translations: Mapping[str, Translation]
    values: Mapping[str, str]
    java: Java
    class_path: Sequence[Path]
    options: Sequence[str]


class Launcher:
    """runs: the folder of all that run now. client: for talking to them."""

    def __init__(self, settings: CamelSettings, clock: Clock, listener: FlowListener) -> None:
        self.runs = settings.folder / _RUNS
        self._settings = settings
        self._clock = clock
        self._listener = listener
        self._class_paths = ClassPaths(settings.folder / _PACKAGES, settings.mirror, settings.own_environment)
        self.client = httpx.AsyncClient(trust_env=False)

    async def close(self) -> None:
        await self.client.aclose()

    async def prepare(self, definition: FlowDefinition, texts: Mapping[str, str], variables: Variables) -> Prepared:
        """Gets all that the flow needs, which may take minutes. texts: the flow's, by file name.

        Raises NotInstalled, NoJava, PackagesMissing, NotFound for a variable.
        """
        installation = CamelInstallation.find(self._settings.engines)
        java = await asyncio.to_thread(find_java, self._settings.own_environment)
        translations = {name: translate(text) for name, text in texts.items()}
        values, drivers = await _values(list(translations.values()), variables)
        packages = {*definition.packages, *drivers}
        for text in texts.values():
            packages |= needed_packages(text)
        class_path = await self._class_paths.of(installation, packages)
        if definition.folder is not None:
            class_path = [*class_path, definition.folder]
        options = [*self._java_options(java), *archive_options(installation, java)]
        return Prepared(definition, variables, translations, values, java, class_path, options)

    async def launch(self, prepared: Prepared, reloaded: int) -> FlowProcess:
        """Starts the process; the caller watches it."""
        definition, translations = prepared.definition, prepared.translations
        workspace = Workspace(self.runs / definition.name / new_id().hex)
        port, server_port = _free_ports()
        secret = f"/{secrets.token_urlsafe(18)}"
        own = _camel_properties(definition.name, port, secret, server_port, self._settings.grace)
        routes = {name: translation.text for name, translation in translations.items()}
        await asyncio.to_thread(workspace.write, routes, {**prepared.values, **own})
        arguments = workspace.arguments(prepared.class_path, prepared.options)
        process = await self._start(prepared.java, workspace, arguments, definition.folder)
        prefixes = frozenset(path for translation in translations.values() for path in translation.prefixes)
        return FlowProcess(
            definition,
            process,
            Console(self.client, port, secret),
            HttpSide(server_port, prefixes),
            workspace,
            self._listener,
            prepared.variables,
            self._clock,
            reloaded,
        )

    async def _start(
        self, java: Java, workspace: Workspace, arguments: Sequence[str], files: Path | None
    ) -> JavaProcess:
        folder = self._settings.working_folder or files or workspace.home
        environment = {**self._settings.environment, "HOME": str(workspace.home)}
        return await JavaProcess.start(java.program, arguments, folder, environment)

    def _java_options(self, java: Java) -> list[str]:
        options = [
            "-Xms16m",
            f"-Xmx{self._settings.heap_mb}m",
            "-XX:+UseSerialGC",
            "-XX:+ExitOnOutOfMemoryError",
            f"-Duser.timezone={self._settings.zone}",
            "-Dfile.encoding=UTF-8",
        ]
        return [*options, "--sun-misc-unsafe-memory-access=allow"] if java.version >= _UNSAFE_IS_TOLD else options


async def _values(translations: Sequence[Translation], variables: Variables) -> tuple[dict[str, str], set[str]]:
    """Camel's properties for the variables and databases that the texts name, and the databases' drivers."""
    names = {name for translation in translations for name in translation.variables}
    values = {f"{KEY}{name}": _plain((await variables.get(name)).value) for name in sorted(names)}
    drivers = set()
    for name in sorted({name for translation in translations for name in translation.data_sources}):
        source = data_source(name, (await variables.get(f"{VARIABLE}{name}")).value)
        if source.password:
            variables.keep_secret(source.password)
        values |= {key: _plain(value) for key, value in source.properties.items()}
        drivers.add(source.package)
    return values, drivers


def _plain(value: str) -> str:
    """A value in which braces are its own, and name no other property."""
    return value.replace("{{", "\\{{").replace("}}", "\\}}")


def _camel_properties(name: str, port: int, secret: str, server_port: int, grace: timedelta) -> dict[str, str]:
    """secret: below which path the process tells about itself."""
    return {
        "camel.main.name": name,
        "camel.main.autoConfigurationLogSummary": "false",
        "camel.main.useMdcLogging": "true",
        "camel.main.loadStatisticsEnabled": "true",
        "camel.main.devConsoleEnabled": "true",
        "camel.main.shutdownTimeout": str(max(1, round(grace.total_seconds()))),
        "camel.main.shutdownLogInflightExchangesOnTimeout": "false",
        "camel.management.enabled": "true",
        "camel.management.host": HOST,
        "camel.management.port": str(port),
        "camel.management.path": secret,
        "camel.management.devConsoleEnabled": "true",
        "camel.server.enabled": "true",
        "camel.server.host": HOST,
        "camel.server.port": str(server_port),
    }


def _free_ports() -> tuple[int, int]:
    """Two ports of the loopback address that nobody listens on now."""
    with socket.socket() as one, socket.socket() as other:
        one.bind((HOST, 0))
        other.bind((HOST, 0))
        return int(one.getsockname()[1]), int(other.getsockname()[1])
