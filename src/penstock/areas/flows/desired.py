"""Desired state: what each agent is to have, answered from what is stored now, and to each only its own."""

import bisect
from collections.abc import Mapping, Sequence
from uuid import UUID

from penstock.areas.flows.catalog import FlowCatalog, FlowEntry
from penstock.areas.flows.content import FlowContents
from penstock.areas.flows.coverage import Coverage
from penstock.areas.flows.model import Flow
from penstock.areas.flows.policy import FlowPolicy
from penstock.kernel.names import name_key
from penstock.kernel.wire import encode
from penstock.protocol.work import (
    Digest,
    DigestEntry,
    DigestQuery,
    FileAnswer,
    FileQuery,
    VariableAnswer,
    VariableQuery,
    VariableValue,
    WorkAnswer,
    WorkItem,
    WorkQuery,
)
from penstock.resource.matching import Matcher, Matching, needs_of
from penstock.resource.ports.agents import KnownAgent
from penstock.resource.ports.variables import Variables


class DesiredState:
    """Answers agents. An agent that is unknown or deprecated has no work."""

    def __init__(
        self,
        catalog: FlowCatalog,
        coverage: Coverage,
        matching: Matching,
        variables: Variables,
        contents: FlowContents,
        policy: FlowPolicy,
    ) -> None:
        self._catalog = catalog
        self._coverage = coverage
        self._matching = matching
        self._variables = variables
        self._contents = contents
        self._policy = policy

    async def digest(self, agent_id: UUID, query: DigestQuery) -> Digest:
        """Names and stamps of the agent's flows, by name, the page after `query.after`."""
        mine = await self._work_of(agent_id)
        after = name_key(query.after) if query.after is not None else None
        start = bisect.bisect_right(mine, after, key=lambda flow: name_key(flow.name)) if after is not None else 0
        page = mine[start : start + self._policy.digest_entries]
        more = start + len(page) < len(mine)
        entries = [DigestEntry(name=flow.name, stamp=flow.stamp) for flow in page]
        return Digest(entries=entries, next=page[-1].name if more else None)

    async def work(self, agent_id: UUID, query: WorkQuery) -> WorkAnswer:
        """The flows asked for that are the agent's, as many as fit into an answer."""
        most = self._policy.work_items
        asked, later = query.names[:most], query.names[most:]
        agent, flows, matcher = await self._found(agent_id, asked)
        answer = WorkAnswer(items=[], left=[], ended={})
        room = self._policy.work_bytes
        for place, name in enumerate(asked):
            flow = flows.get(name_key(name))
            if agent is None or flow is None:
                continue
            if agent not in matcher.agents_for(needs_of(flow.requirements)):
                answer.ended[name] = max(flow.since, agent.since)
            elif flow.unmatched_since is not None:
                answer.left.append(name)  # it changed just now: the note could not be made
            else:
                item = _item(flow, agent)
                room -= len(encode(item))
                if room < 0 and answer.items:
                    later = [*asked[place:], *later]
                    break
                answer.items.append(item)
        answer.left += later
        return answer

    async def _found(
        self, agent_id: UUID, names: Sequence[str]
    ) -> tuple[KnownAgent | None, Mapping[str, Flow], Matcher]:
        """The agent, the flows of these names, and who matches them."""
        matcher = await self._matching.matcher()
        agent = next((known for known in matcher.known if known.id == agent_id), None)
        entries = await self._catalog.named(names)
        # From this moment on the agent accounts for the due times of what it gets.
        await self._coverage.note_matched([flow for flow in entries.values() if flow.unmatched_since], matcher)
        return agent, await self._catalog.stored(names), matcher

    async def variables(self, agent_id: UUID, query: VariableQuery) -> VariableAnswer:
        """Values of those variables asked for that the agent's flows refer to."""
        referred = {name for flow in await self._work_of(agent_id) for name in flow.variables}
        asked = [name for name in query.names if name_key(name) in referred]
        values = await self._variables.values(asked) if asked else {}
        return VariableAnswer(
            values={name: VariableValue(value=value, is_secret=secret) for name, (value, secret) in values.items()}
        )

    async def file(self, agent_id: UUID, query: FileQuery) -> FileAnswer:
        """A piece of a file that belongs to one of the agent's flows."""
        if not any(query.sha256 in flow.files for flow in await self._work_of(agent_id)):
            return FileAnswer()
        return FileAnswer(content=await self._contents.piece(query.sha256, query.number))

    async def _work_of(self, agent_id: UUID) -> Sequence[FlowEntry]:
        matcher = (await self._matching.matcher()).alone(agent_id)
        return await self._catalog.met_by(lambda needs: bool(matcher.agents_for(needs)))


def _item(flow: Flow, agent: KnownAgent) -> WorkItem:
    return WorkItem(
        name=flow.name,
        stamp=flow.stamp,
        version=flow.version,
        requested=flow.requested_status,
        since=max(flow.since, flow.matched_since, agent.since),
        spec=flow.flow_spec,
        schedule=flow.schedule,
        variables=flow.variables,
        files=flow.integration_files or [],
        packages=flow.additional_packages,
    )
