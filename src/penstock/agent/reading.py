"""Makes of a work item what an engine can start: its definition, its files, the variables that decide how it runs."""

import asyncio
import re
from collections.abc import Callable, Mapping
from datetime import tzinfo

import msgspec

from penstock.agent.due_times import DueTimes
from penstock.agent.flow_folders import FlowFolder, FlowFolders
from penstock.flow.camel.installation import NotInstalled
from penstock.flow.choice import Choice, EngineKind, choose, forced_engine
from penstock.flow.definition import FlowDefinition
from penstock.flow.exchange import text_of
from penstock.flow.variables import Variables
from penstock.kernel.errors import Invalid, PenstockError
from penstock.kernel.wire import encode
from penstock.protocol.work import WorkItem

# Not the commas of a requirement like `requests[socks,use]>=2,<3`.
_BETWEEN_PACKAGES = re.compile(r"\n|,(?![^\[\n]*\])(?!\s*[<>=!~])")
_USE = "an option that decides how a flow runs"


class Reading(msgspec.Struct, frozen=True):
    """definition, due_times: None when there is a problem. passing: the problem may be gone another time.

    engine: what the flow is to run in. folder: where its text and files lie; a Schedule's flow has none.
    """

    definition: FlowDefinition | None = None
    due_times: DueTimes | None = None
    problem: str | None = None
    passing: bool = False
    engine: EngineKind = EngineKind.NATIVE
    folder: FlowFolder | None = None


class FlowReader:
    """zone: of wall-clock times. folders: None where flows have no files.

    check_camel: raises NotInstalled, or another error that says what is missing, while no flow can run on Camel.
    """

    def __init__(
        self,
        variables: Variables,
        zone: tzinfo,
        folders: FlowFolders | None = None,
        check_camel: Callable[[], object] | None = None,
    ) -> None:
        self._variables = variables
        self._zone = zone
        self._folders = folders
        self._check_camel = check_camel

    async def read(self, item: WorkItem) -> Reading:
        """Never raises for what the item holds."""
        own = own_variables(item)
        try:
            choice = await self._choice(item, own)
            await self._see_that_it_can_run(choice)
            folder = await self._folder(item)
        except Invalid as error:
            return Reading(problem=error.detail)
        except PenstockError as error:  # Camel is not there; a variable is not, is secret, or cannot be asked for now
            return Reading(problem=error.detail, passing=True)
        except OSError as error:
            return Reading(problem=f"its files cannot be written: {error}", passing=True)
        definition = msgspec.structs.replace(
            choice.definition,
            variables=own,
            folder=folder.files if folder is not None else None,
            packages=packages_of(item),
        )
        return Reading(definition, DueTimes.of(definition, self._zone), engine=choice.engine, folder=folder)

    async def keep_only(self, item: WorkItem) -> None:
        """The item is what runs: the files of other versions may go."""
        if self._folders is not None and item.schedule is None:
            await self._folders.keep_only(item)

    async def remove(self, flow: str) -> None:
        """The flow is no longer the agent's: its files may go."""
        if self._folders is not None:
            await self._folders.remove(flow)

    async def _choice(self, item: WorkItem, own: Mapping[str, str]) -> Choice:
        forced = forced_engine(own)
        choice = choose(item.name, item.version, item.spec, forced)
        if not choice.definition.needs:
            return choice
        variables = self._variables.with_own(own)
        values = {name: (await variables.get_public(name, _USE)).value for name in choice.definition.needs}
        return choose(item.name, item.version, item.spec, forced, values)

    async def _see_that_it_can_run(self, choice: Choice) -> None:
        if choice.engine is not EngineKind.CAMEL:
            return
        try:
            if self._check_camel is None:
                raise NotInstalled(choice.without_camel)
            await asyncio.to_thread(self._check_camel)
        except NotInstalled:
            raise NotInstalled(choice.without_camel) from None

    async def _folder(self, item: WorkItem) -> FlowFolder | None:
        if self._folders is None or item.schedule is not None:
            return None
        return await self._folders.lay_out(item)


def own_variables(item: WorkItem) -> dict[str, str]:
    """The flow's own variables as texts; structured values as JSON."""
    return {
        name: encode(value).decode() if isinstance(value, dict | list) else text_of(value)
        for name, value in (item.variables or {}).items()
    }


def packages_of(item: WorkItem) -> tuple[str, ...]:
    """The packages of the flow, which are separated by commas or lines."""
    return tuple(each.strip() for each in _BETWEEN_PACKAGES.split(item.packages or "") if each.strip())
