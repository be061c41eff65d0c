"""The flows on Camel: all in one Java process, each in a file of its own, so that what holds for one is not all's."""

import asyncio
import os
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import msgspec

from penstock.flow.camel.class_path import ClassPaths, PackagesMissing
from penstock.flow.camel.flow_process import FlowProcess
from penstock.flow.camel.installation import CamelInstallation
from penstock.flow.camel.launcher import Launcher
from penstock.flow.camel.needs import needed_packages
from penstock.flow.camel.settings import CamelSettings
from penstock.flow.command import base_environment
from penstock.flow.definition import FlowDefinition
from penstock.flow.variables import Variables
from penstock.kernel.clock import SystemClock
from tests.differential.case import Case
from tests.differential.outcome import Outcome, files_in
from tests.differential.side import FlowLog, prepare_all, send_all, variables


class _Counts(msgspec.Struct, rename="camel"):
    exchanges_total: int = 0
    exchanges_failed: int = 0


class _Route(msgspec.Struct, rename="camel"):
    route_id: str
    statistics: _Counts = msgspec.field(default_factory=_Counts)


class _Routes(msgspec.Struct):
    routes: list[_Route]


class _Page(msgspec.Struct):
    route: _Routes


async def run_on_camel(
    cases: Sequence[Case], folder: Path, values: dict[str, str], settings: CamelSettings
) -> dict[str, Outcome | str]:
    """Runs all flows at once; answers what each did, or why it cannot run here."""
    missing = await _missing(cases, settings)
    able = [case for case in cases if case.name not in missing]
    prepare_all(folder, able)
    log = FlowLog()
    launcher = Launcher(settings, SystemClock(), log)
    definition = FlowDefinition("differential", "1", "", ())
    texts = {f"{case.name}.yaml": case.source for case in able}
    process = await launcher.launch(definition, texts, Variables(variables(folder, values)), 0)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(process.watch())
        try:
            await process.started(timedelta(seconds=90))
            answers = await send_all(f"http://127.0.0.1:{process.http.port}", able, log)
            counts = await _counts(process)
        finally:
            await process.stop(timedelta(seconds=5))
            await launcher.close()
    outcomes = {
        case.name: Outcome(
            answers[case.name],
            log.of(case),
            counts[case.name].exchanges_total,
            counts[case.name].exchanges_failed,
            files_in(folder / case.name),
        )
        for case in able
    }
    return outcomes | missing


def camel_settings(folder: Path, engines: Path) -> CamelSettings:
    return CamelSettings(
        folder=folder,
        engines=(engines,),
        mirror=os.environ.get("PENSTOCK_AGENT_MAVEN_MIRROR", ""),
        environment=base_environment(os.environ),
        own_environment=os.environ,
    )


async def _missing(cases: Sequence[Case], settings: CamelSettings) -> dict[str, str]:
    """Why a case cannot run: the registry lacks a package."""
    class_paths = ClassPaths(settings.folder / "packages", settings.mirror, os.environ)
    installation = CamelInstallation.find(settings.engines)
    missing = {}
    for case in cases:
        try:
            await class_paths.of(installation, needed_packages(case.source))
        except PackagesMissing as error:
            missing[case.name] = error.detail
    return missing


async def _counts(process: FlowProcess) -> dict[str, _Counts]:
    page = await process.console.read("route", _Page)
    assert page is not None
    return {route.route_id: route.statistics for route in page.route.routes}
