"""Web jobs as assigned work of the agent: their parts put together."""

import os
from contextlib import AsyncExitStack
from pathlib import Path

from penstock.agent.assigned.book import Drawer
from penstock.agent.assigned.kind import AssignedKind, Surroundings
from penstock.agent.entries import Channel
from penstock.agent.settings import AgentSettings
from penstock.agent.variables import VariableSource
from penstock.agent.webjobs.keeper import WebJobKeeper
from penstock.flow.commands.command import CommandRunner
from penstock.flow.variables import Variables
from penstock.packages.environment import Environments
from penstock.packages.index import PackageIndex
from penstock.protocol import subjects

FOLDER = "webjobs"
_KEPT_OUTPUT = 4096  # bytes: its last words, when it ends


class WebJobs(AssignedKind):
    """Those with a cron expression are flows instead."""

    kind = subjects.WEB_JOBS

    def __init__(self, surroundings: Surroundings) -> None:
        super().__init__(surroundings)
        drawer = Drawer(self.kind, Channel.WEB_JOBS, surroundings.database, surroundings.outbox, surroundings.clock)
        variables = Variables(VariableSource(surroundings.uplink, subjects.variables_of(self.kind)).resolve)
        runner = CommandRunner(surroundings.environment, _KEPT_OUTPUT)
        self._keeper = WebJobKeeper(
            drawer, runner, variables, job_environments(surroundings.settings, surroundings.folder)
        )

    @property
    def keeper(self) -> WebJobKeeper:
        return self._keeper

    async def open(self, stack: AsyncExitStack) -> None:
        await stack.enter_async_context(self._keeper)


def job_environments(settings: AgentSettings, folder: Path) -> Environments:
    """Where packages of jobs are installed, in the agent's folder; nothing of the platform is visible in them."""
    index = PackageIndex(settings.package_index, settings.package_folder, os.environ)
    return Environments(folder / FOLDER, index, platform=False)
