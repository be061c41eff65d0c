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
from penstock.flow.commands.command import base_environment
from penstock.flow.definition import FlowDefinition
from penstock.flow.variables import Variables
from penstock.kernel.clock import SystemClock
from tests.differential.case import Case
from tests.differential.outcome import Outcome, files_in
from tests.differential.side import FlowLog, prepare_all, send_all, variables


class _Counts(msgspec.Struct, rename="camel"):
    exchanges_total: int = 0
    exchanges_failed: int = 0


class _Route(msgspec.Struct, rename={"route_id": "routeId", "origin": "from"}):
    route_id: str
    origin: str
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
    prepared = await launcher.prepare(definition, texts, Variables(variables(folder, values)))
    process = await launcher.launch(prepared, 0)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(process.watch())
        try:
            await process.started(timedelta(seconds=90))
            answers = await send_all(f"http://127.0.0.1:{process.http.port}", able, log)
            routes = await _routes(process)
        finally:
            await process.stop(timedelta(seconds=5))
            await launcher.close()
    counts = {case.name: _counts(routes, case) for case in able}
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
    problems: dict[frozenset[str], str] = {}
    for packages in {frozenset(needed_packages(case.source)) for case in cases}:
        try:
            await class_paths.of(installation, packages)
        except PackagesMissing as error:
            problems[packages] = error.detail
    found = {case.name: problems.get(frozenset(needed_packages(case.source))) for case in cases}
    return {name: problem for name, problem in found.items() if problem is not None}


async def _routes(process: FlowProcess) -> list[_Route]:
    page = await process.console.read("route", _Page, seconds=60)
    assert page is not None
    return page.route.routes


def _counts(routes: Sequence[_Route], case: Case) -> _Counts:
    """As a process of its own would count: what another route of the flow hands on directly is not counted again."""
    counts = _Counts()
    for route in routes:
        if route.route_id.partition(".")[0] == case.name and not route.origin.startswith("direct:"):
            counts.exchanges_total += route.statistics.exchanges_total
            counts.exchanges_failed += route.statistics.exchanges_failed
    return counts
