"""What agents report of file transfers, taken in."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from penstock.areas.transfers.assignments import TransferAssignments
from penstock.areas.transfers.model import MftTick
from penstock.areas.transfers.states import TransferStates
from penstock.areas.transfers.stored import MFT_FILES, MFT_RUNS, MFT_TICKS, FileEntry, Mft, RunEntry, TickEntry
from penstock.protocol.transfer import TransferredFile, TransferReport, TransferRun, TransferTick
from penstock.store.store import Store
from penstock.store.write import Append, Write

_AT_ONCE = 1000


class TransferReports:
    """What comes again, or of a transfer that is gone, changes nothing."""

    def __init__(self, store: Store, assignments: TransferAssignments, states: TransferStates) -> None:
        self._store = store
        self._assignments = assignments
        self._states = states

    async def take(self, reports: Sequence[tuple[UUID, TransferReport]]) -> None:
        """For AgentReports.consume."""
        mfts = {mft.key: mft for mft in await self._assignments.entities()}
        for agent_id, report in reports:
            for write in _writes(agent_id, report, mfts):
                await self._store.commit([write])
        await self._states.take([(agent_id, state) for agent_id, report in reports for state in report.states])


def _writes(agent_id: UUID, report: TransferReport, mfts: Mapping[UUID, Mft]) -> list[Write]:
    files = [_file(agent_id, each, mfts[each.key]) for each in report.files if each.key in mfts]
    runs = [_run(agent_id, each, mfts[each.key]) for each in report.runs if each.key in mfts and each.finished]
    ticks = [_tick(agent_id, each, mfts[each.key]) for each in report.ticks if each.key in mfts]
    writes: list[Write] = [Append(MFT_FILES, some) for some in _chunks(files)]
    writes += [Append(MFT_RUNS, [run]) for run in runs]
    return [*writes, *(Append(MFT_TICKS, some) for some in _chunks(ticks))]


def _chunks(entries: Sequence[FileEntry] | Sequence[TickEntry]) -> list[Sequence[FileEntry] | Sequence[TickEntry]]:
    return [entries[start : start + _AT_ONCE] for start in range(0, len(entries), _AT_ONCE)]


def _file(agent_id: UUID, file: TransferredFile, mft: Mft) -> FileEntry:
    return FileEntry(agent_id=agent_id, mft=mft.name, flow_name=mft.flow_name, file=file)


def _run(agent_id: UUID, run: TransferRun, mft: Mft) -> RunEntry:
    return RunEntry(
        run=run.id,
        agent_id=agent_id,
        mft=mft.name,
        started=run.started,
        finished=run.finished or run.started,
        files=run.files,
        version=run.version,
        due=run.due,
        error=run.error,
        items=run.items,
        stats=run.stats,
    )


def _tick(agent_id: UUID, reported: TransferTick, mft: Mft) -> TickEntry:
    tick = reported.tick
    return TickEntry(
        mft=mft.name,
        tick=MftTick(
            agent_id=agent_id,
            due=tick.due,
            last_due=tick.last_due,
            count=tick.count,
            outcome=tick.outcome,
            reason=tick.reason,
            version=tick.version,
        ),
    )
