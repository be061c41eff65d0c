"""What is noted of a run while it goes on: its log, the files, how far it is."""

from collections import deque
from datetime import datetime
from uuid import UUID

import msgspec

from penstock.agent.transfers.book import OpenRun
from penstock.kernel.clock import Clock
from penstock.kernel.wire import parse_time
from penstock.protocol.transfer import Items, MftStats, TransferItem, TransferredFile
from penstock.rclone.log_line import LogLine
from penstock.rclone.stats import Stats
from penstock.rclone.transfer import Listener, TransferCommand

_KEPT = 500
_LONGEST = 4000
"""Characters of a line."""


class RunRecord(Listener):
    """Of a long log the first lines, the last ones and the first errors are kept; of files every one."""

    def __init__(self, key: UUID, run: OpenRun, item: TransferItem, clock: Clock) -> None:
        self._key = key
        self._run = run
        self._item = item
        self._clock = clock
        self._first: list[LogLine] = []
        self._last: deque[LogLine] = deque(maxlen=_KEPT)
        self._errors: list[LogLine] = []
        self._lines = 0
        self._files: list[TransferredFile] = []
        self.files = 0
        self.stats = MftStats()

    def line(self, line: LogLine) -> None:
        self._lines += 1
        if len(self._first) < _KEPT:
            self._first.append(line)
        elif line.is_error and len(self._errors) < _KEPT:
            self._errors.append(line)
        else:
            self._last.append(line)
        if line.was_transferred:
            self._add_file(line, self._item.command)
        elif line.was_deleted and self._item.command == TransferCommand.SYNC:
            self._add_file(line, "delete")

    def progress(self, stats: Stats) -> None:
        self.stats = MftStats(**msgspec.structs.asdict(stats))

    def take_files(self) -> list[TransferredFile]:
        """The files since it was last asked."""
        files, self._files = self._files, []
        return files

    def items(self) -> list[Items]:
        """The log, in order; a line says how much of it is left out."""
        kept = [*self._first, *sorted([*self._errors, *self._last], key=lambda line: line.time)]
        items = [_item(line) for line in kept]
        if self._lines > len(kept):
            left_out = Items(level="notice", msg=f"{self._lines - len(kept)} lines are left out here")
            items.insert(len(self._first), left_out)
        return items

    def _add_file(self, line: LogLine, operation: str) -> None:
        source, destination = self._item.source, self._item.destination
        self.files += 1
        self._files.append(
            TransferredFile(
                run=self._run.id,
                key=self._key,
                number=self.files,
                at=self._time(line),
                operation=operation,
                name=line.object,
                size=line.size,
                source=source.name,
                source_path=source.path,
                source_type=source.type,
                destination=destination.name,
                destination_path=destination.path,
                destination_type=destination.type,
            )
        )

    def _time(self, line: LogLine) -> datetime:
        try:
            return parse_time(line.time)
        except ValueError:
            return self._clock.now()


def _item(line: LogLine) -> Items:
    return Items(
        level=line.level,
        msg=line.msg[:_LONGEST],
        source=line.source,
        time=line.time,
        object=line.object[:_LONGEST] or None,
        object_type=line.object_type or None,
    )
