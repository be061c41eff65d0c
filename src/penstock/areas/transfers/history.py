"""What file transfers did: pages of runs, files and due times."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from penstock.areas.transfers.model import MftFileTransferEntry, MftScheduleExecuted, MftTick, TransferFilter
from penstock.areas.transfers.overview import TransferOverview
from penstock.areas.transfers.service import TransferService
from penstock.areas.transfers.stored import MFT_FILES, MFT_RUNS, MFT_TICKS, FileEntry, RunEntry, TickEntry
from penstock.kernel.errors import NotFound
from penstock.kernel.wire import encode
from penstock.resource.answer import Encoded
from penstock.resource.page import cut, page_size
from penstock.store.definition import Journal
from penstock.store.store import Store, Where, decode


class TransferHistory:
    """Newest first. The history of a transfer outlives it."""

    def __init__(self, store: Store, transfers: TransferService, overview: TransferOverview) -> None:
        self._store = store
        self._transfers = transfers
        self._overview = overview

    async def runs(self, wanted: TransferFilter) -> Encoded[list[MftScheduleExecuted]]:
        """Runs that have ended."""
        where = _of(wanted.mft_name)
        if wanted.only_where_files_transferred:
            where.append(Where("files", ">", 0))
        page, following = await self._page(MFT_RUNS, where, wanted)
        return Encoded.array([encode(decode(body, RunEntry).shown()) for body in page], following)

    async def run(self, name: str, id: UUID) -> MftScheduleExecuted:
        """A run, the one under way included. Raises NotFound."""
        where = [Where("mft", "=", name), Where("run", "=", str(id))]
        for body in await self._store.entries(MFT_RUNS, where, limit=1):
            return decode(body, RunEntry).shown()
        mft = await self._transfers.find(name)
        for each in await self._overview.progress(mft) if mft is not None else ():
            if each.run == id and each.started is not None:
                return MftScheduleExecuted(id=id, start_time=each.started, mft_name=name, items=[], stats=each.stats)
        raise NotFound.of(f"run of file transfer '{name}'", id)

    async def files(self, wanted: TransferFilter) -> Encoded[list[MftFileTransferEntry]]:
        """Files of all runs, those under way included."""
        page, following = await self._page(MFT_FILES, _of(wanted.mft_name), wanted)
        return Encoded.array([encode(_shown(decode(body, FileEntry))) for body in page], following)

    async def ticks(self, name: str, wanted: TransferFilter) -> Encoded[list[MftTick]]:
        """Due times and what became of them. Raises NotFound."""
        mft = await self._transfers.named(name)
        page, following = await self._page(MFT_TICKS, [Where("mft", "=", mft.name)], wanted)
        return Encoded.array([encode(decode(body, TickEntry).tick) for body in page], following)

    async def _page(
        self, journal: Journal[Any], where: Sequence[Where], wanted: TransferFilter
    ) -> tuple[list[bytes], int | None]:
        """The entries of the page, and where the next one begins, if there is one."""
        size = page_size(wanted.count, wanted.limit)
        bodies = await self._store.entries(
            journal, where, since=wanted.from_date, until=wanted.to_date, skip=wanted.skip, limit=size + 1
        )
        return cut(bodies, size, wanted.skip)


def _of(name: str | None) -> list[Where]:
    return [Where("mft", "=", name)] if name else []


def _shown(entry: FileEntry) -> MftFileTransferEntry:
    file = entry.file
    return MftFileTransferEntry(
        name=entry.mft,
        flow_name=entry.flow_name or entry.mft,
        time=file.at,
        file_name=file.name,
        operation=file.operation,
        from_name=file.source,
        from_path=file.source_path,
        from_protocol=file.source_type,
        to_name=file.destination,
        to_path=file.destination_path,
        to_protocol=file.destination_type,
    )
