"""What areas need of each other, as interfaces. The server fills each port with the area that provides it."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, overload
from uuid import UUID

from penstock.kernel.actor import Actor
from penstock.kernel.duration import Duration
from penstock.kernel.entity import Entity
from penstock.kernel.errors import FieldError
from penstock.kernel.wire import Int32, Wire
from penstock.protocol.capability import AgentCapability, Requirement
from penstock.protocol.cloudevent import CloudEvent
from penstock.protocol.report import IntegrationFlowStatusEnum
from penstock.resource.kind import ConfigurationKind
from penstock.resource.operation import Operation
from penstock.store.write import Write


@dataclass(frozen=True)
class KnownAgent:
    """An agent as other areas see it.

    works: registered and not deprecated; online: pinged lately.
    since: when `capabilities` or `works` last changed. base_address: where its endpoints are reached.
    """

    id: UUID
    name: str
    capabilities: Sequence[AgentCapability]
    works: bool
    online: bool
    since: datetime
    base_address: str | None = None


class AgentDirectory(Protocol):
    """Provided by `agents`."""

    async def agents(self, fresh: bool = False) -> Sequence[KnownAgent]:
        """Every agent; answered from memory, at most a second old, or as stored now when `fresh`.

        The answer is the same object as long as no agent changed.
        """
        ...


@dataclass(frozen=True)
class GeneratedFlow:
    """A flow that another resource makes.

    spec: Camel YAML DSL; requirements: (identifier, value) pairs.
    schedule, cron: of the Schedule that makes it, if one does; its due times are accounted for while it is
    nobody's work, see FlowGaps.
    started: whether it is to run; None leaves that as it is, and starts a new one.
    """

    name: str
    category: str
    spec: str
    requirements: Mapping[str, str]
    labels: Sequence[str] = ()
    schedule: str | None = None
    cron: str | None = None
    started: bool | None = None


@dataclass(frozen=True)
class GeneratedFlowState:
    """How a flow stands on an agent, as that last told. message: what is wrong."""

    status: IntegrationFlowStatusEnum
    at: datetime
    message: str | None


class GeneratedFlows(Protocol):
    """Provided by `flows`: flows that are made, changed and removed with the resource that generates them."""

    async def plan_put(self, flow: GeneratedFlow, actor: Actor) -> Sequence[Write]:
        """The writes that create the flow, or change it; none when nothing differs.

        Raises Invalid when the spec is no flow.
        """
        ...

    async def plan_remove(self, name: str, actor: Actor) -> Sequence[Write]:
        """The writes that remove the flow; none when there is no such flow."""
        ...

    async def announce(self, name: str) -> None:
        """Tells the agents that the flow changed; call it after the commit."""
        ...

    async def states(self, name: str) -> Mapping[UUID, GeneratedFlowState]:
        """What agents told of the flow, by their ids."""
        ...


@dataclass(frozen=True)
class FlowDraft:
    """A flow that another area makes and then leaves to operators. spec: Camel YAML DSL. variables: its own."""

    name: str
    spec: str
    variables: Mapping[str, str]
    project: str | None = None
    category: str | None = None
    labels: Sequence[str] = ()
    requirements: Sequence[Requirement] = ()


class FlowDrafts(Protocol):
    """Provided by `flows`."""

    async def save_draft(self, draft: FlowDraft, actor: Actor) -> str:
        """Saves it as an operator would: a new flow, stopped, or the next version. Answers the version.

        Raises Invalid, with the fields of IntegrationFlow; NameTaken when another resource makes the flow.
        """
        ...


@dataclass(frozen=True)
class CronJob:
    """What has due times and is no Schedule. schedule: what its entries in the ledger are called."""

    name: str
    schedule: str
    flow: str
    cron: str
    requirements: Sequence[Requirement]
    changed: datetime


class CronJobs(Protocol):
    """Provided by `webjobs`."""

    async def cron_jobs(self) -> Sequence[CronJob]:
        """All there are."""
        ...


class FlowGap(Entity):
    """A stretch of time in which a scheduled flow, in one version and request, was no agent's work.

    begin: due times up to here are accounted for. end: due times after it are an agent's; None while it is open.
    reason: why nobody ran it, such as `no agent matched`.
    """

    flow: str
    schedule: str
    cron: str
    version: str
    reason: str
    begin: datetime
    end: datetime | None = None


class FlowGaps(Protocol):
    """Provided by `flows`: the due times that no agent accounts for, so that somebody else does.

    Together with what agents account for (`WorkItem.since`) the gaps leave no due time out: a gap ends at the
    moment from which on the first agent that the flow matches accounts for it.
    """

    async def gaps(self) -> Sequence[FlowGap]:
        """Those that are open, or ended and not accounted for."""
        ...

    def plan_accounted(self, gap: FlowGap, until: datetime) -> Sequence[Write]:
        """The writes that say that the gap's due times up to `until` are accounted for.

        Their commit is Stale when somebody else was quicker.
        """
        ...


class Variables(Protocol):
    """Provided by `variables`."""

    async def values(self, names: Sequence[str]) -> Mapping[str, tuple[str, bool]]:
        """name -> (value, is_secret) of those that exist; names compared without case, keys as asked for."""
        ...


@dataclass(frozen=True)
class KnownCoreSystem:
    """A core system as other areas see it. is_storage: its category is `storage`.

    e_tag differs whenever it changes. shown: its variables, secrets masked. variables: with the secrets, and
    `{{var:NAME}}` as it was written.
    """

    id: UUID
    name: str
    e_tag: str
    title: str | None
    description: str | None
    category: str | None
    type: str | None
    is_storage: bool
    shown: Mapping[str, Any]
    variables: Mapping[str, Any]


class CoreSystems(Protocol):
    """Provided by `coresystems`; its changes are told as those of the collection `core_systems`."""

    async def known(self, name: str) -> KnownCoreSystem | None:
        """The core system of this name, compared without case. Raises SecretUnreadable."""
        ...


class StorageTypes(Protocol):
    """What a storage may be. Perhaps nobody provides it; then every type is taken."""

    async def secrets(self, type: str) -> Collection[str]:
        """The names of the variables of this type that are secret."""
        ...

    async def errors(self, type: str, variables: Mapping[str, Any]) -> Sequence[FieldError]:
        """What is wrong, in the fields `Type` and `Variables.NAME`; a text with `{{var:NAME}}` may become anything."""
        ...


@dataclass(frozen=True)
class KnownApi:
    """An API that can be hosted. schema: JSON Schema of its configuration, as text. digest: of the package's files."""

    name: str
    version: str
    schema: str
    package: str
    package_version: str
    digest: str | None


class ApiCatalog(Protocol):
    """Provided by `apipackages`; its changes are told as those of the collection `integration_api_packages`."""

    async def find(self, name: str, version: str | None) -> KnownApi | None:
        """The API of a package that is ready; the one registered last without a version."""
        ...


class ApiUses(Protocol):
    """Provided by `endpoints`."""

    async def users(self, apis: Collection[tuple[str, str]]) -> Sequence[str]:
        """The names of the endpoints that host one of these APIs, given as name and version."""
        ...


class EventPublisher(Protocol):
    """Provided by `eventing`."""

    async def publish(self, events: Sequence[CloudEvent], *, channels: Sequence[str] | None = None) -> None:
        """Returns once the events are durably stored; they then reach every channel that subscribes to them.

        An event with the source and id of one that was stored in the last two minutes is stored once.
        channels: these names, whatever is subscribed. Raises NotFound for a channel that does not exist, Invalid for
        data that the event's definition does not allow, Unavailable: the events may then have been stored.
        """
        ...


@dataclass(frozen=True)
class KnownChannel:
    """A channel as other areas see it.

    stream: what it has to deliver. enabled: whether it is being delivered. endpoints: their types.
    """

    id: UUID
    name: str
    stream: str
    enabled: bool
    endpoints: frozenset[str]


class Channels(Protocol):
    """Provided by `eventing`."""

    async def named(self, name: str) -> KnownChannel | None:
        """The channel of this name, compared without case."""
        ...


@dataclass(frozen=True)
class Rule:
    """A rule in force, for people to read."""

    topic: str
    text: str


class AccessRules(Protocol):
    """Provided by `identity`."""

    def rules(self) -> Sequence[Rule]:
        """What holds for passwords, tokens, keys and logins."""
        ...


class RunParameter(Wire):
    """A parameter's value, as a text of JSON."""

    name: str | None = None
    value_json: str | None = None


@dataclass(frozen=True)
class DeclaredParameter:
    """A parameter of a script. type: of JSON Schema, or `any`. required: whether every run must give a value."""

    name: str
    type: str
    required: bool


@dataclass(frozen=True)
class RunTrigger:
    """What made a run happen. type: such as `event`, `schedule`, `web`; None for a call by hand."""

    type: str | None = None
    id: str | None = None


class RecordedRun(Entity):
    """A run of an action or a notebook, from the moment it was accepted.

    received: the values given; parameters: those used. status_code: 200, 400 when it was refused, 422 when the code
    failed, 503 when it could not be run or was cut off; None while it is not finished. server: the replica that has it.
    """

    script_id: UUID
    script_name: str
    received: list[RunParameter] = []
    parameters: list[RunParameter] = []
    trigger: str | None = None
    trigger_id: str | None = None
    status_code: Int32 | None = None
    duration: Duration | None = None
    error: str | None = None
    finished: bool = False
    server: str


@dataclass(frozen=True)
class RunAnswer:
    """What a run answered. error: why it failed, with the traceback of its code."""

    status_code: int
    media_type: str = "text/plain"
    body: bytes = b""
    error: str | None = None


class AcceptedRun(Protocol):
    """A run that is on record, and goes on whether or not anybody waits for it."""

    @property
    def id(self) -> UUID: ...

    async def answer(self, preferred_format: str | None = None) -> RunAnswer:
        """Waits for the end."""
        ...


@dataclass(frozen=True)
class Script:
    """What a run runs. file_name: tells the form of the content, where it has a name. values: of its parameters."""

    id: UUID
    name: str
    content: str
    values: Mapping[str, Any]
    received: Sequence[RunParameter]
    file_name: str | None = None


class Runs(Protocol):
    """Provided by `runs`."""

    async def accept(self, script: Script, trigger: RunTrigger, actor: Actor, id: UUID | None = None) -> AcceptedRun:
        """Returns once the run is on record. Raises Unavailable, TooManyRequests.

        id: of a run that may have been asked for before. One that is on record is not repeated, unless it was cut off;
        what it answered is not kept, only how it ended.
        """
        ...

    async def refuse(
        self, script: Script, trigger: RunTrigger, actor: Actor, reason: str, id: UUID | None = None
    ) -> None:
        """Puts a run on record that cannot begin: it is finished, with the status 400 and the reason."""
        ...

    async def recorded(self, id: UUID) -> RecordedRun | None:
        """The run of this id, unless it is older than what is kept."""
        ...

    async def history(self, script_id: UUID) -> Sequence[RecordedRun]:
        """The newest first, at most 1,000."""
        ...


@dataclass(frozen=True)
class KnownScript:
    """An action or a notebook as other areas see it. name: a notebook's is its file's."""

    id: UUID
    name: str
    parameters: Sequence[DeclaredParameter]


class Scripts(Protocol):
    """What can be run by its id."""

    async def known(self, id: UUID) -> KnownScript:
        """Raises NotFound."""
        ...

    async def start(
        self,
        id: UUID,
        parameters: Sequence[RunParameter],
        trigger: RunTrigger,
        actor: Actor,
        run_id: UUID | None = None,
    ) -> AcceptedRun:
        """Starts a run; returns once it is on record, from when on it ends as finished or failed whatever happens.

        run_id: see Runs.accept. Raises NotFound, Invalid for parameters that it does not have, lacks, or of a wrong
        type, Unavailable, TooManyRequests.
        """
        ...

    async def refuse(
        self,
        id: UUID,
        parameters: Sequence[RunParameter],
        trigger: RunTrigger,
        actor: Actor,
        reason: str,
        run_id: UUID | None = None,
    ) -> None:
        """See Runs.refuse. Raises NotFound, Unavailable."""
        ...


class Actions(Scripts, Protocol):
    """Provided by `actions`."""


class Notebooks(Scripts, Protocol):
    """Provided by `notebooks`."""


class ScriptUses(Protocol):
    """Provided by `triggers`."""

    async def users(self, script_id: UUID) -> Sequence[str]:
        """The triggers, schedules and endpoints that run this action or notebook, each in words."""
        ...


class CodeRules(Protocol):
    """Provided by `interactive`."""

    async def rules(self) -> Sequence[Rule]:
        """How scripts and notebooks are kept apart where they run now."""
        ...


class ConfigurationKinds(Mapping[str, ConfigurationKind[Any]]):
    """Provided by the server: every kind that the areas declare, by its name."""

    def __init__(self, kinds: Iterable[ConfigurationKind[Any]]) -> None:
        """Raises TypeError when two kinds have one name."""
        self._kinds: dict[str, ConfigurationKind[Any]] = {}
        for kind in kinds:
            if kind.kind in self._kinds:
                raise TypeError(f"the configuration kind {kind.kind} is declared twice")
            self._kinds[kind.kind] = kind

    def __getitem__(self, name: str) -> ConfigurationKind[Any]:
        return self._kinds[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    def __len__(self) -> int:
        return len(self._kinds)


class OperationCatalog(Sequence[Operation]):
    """Provided by the server: every operation of the API, complete once the server has started."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        self._operations = operations

    @overload
    def __getitem__(self, index: int) -> Operation: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Operation]: ...
    def __getitem__(self, index: int | slice) -> Operation | Sequence[Operation]:
        return self._operations[index]

    def __len__(self) -> int:
        return len(self._operations)
