"""A listener that remembers what a flow engine told it."""

from collections.abc import Sequence

from penstock.flow.listener import CommandRun, LogEntry, Tick


class RememberingListener:
    """Everything in the order in which it was told."""

    def __init__(self) -> None:
        self.ticked: list[Tick] = []
        self.started: list[CommandRun] = []
        self.finished: list[CommandRun] = []
        self.lines: list[LogEntry] = []
        self.failures: list[tuple[str, str, str]] = []

    async def ticks(self, ticks: Sequence[Tick]) -> None:
        self.ticked += ticks

    async def run_started(self, run: CommandRun) -> None:
        self.started.append(run)

    async def run_finished(self, run: CommandRun) -> None:
        self.finished.append(run)

    def log(self, entry: LogEntry) -> None:
        self.lines.append(entry)

    def flow_failed(self, flow: str, version: str, reason: str) -> None:
        self.failures.append((flow, version, reason))

    @property
    def messages(self) -> list[str]:
        return [line.message for line in self.lines]
