"""Entries of the outbox: encoded once, when they happen, and put into a report's message as they are."""

import sqlite3
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any, NamedTuple, cast
from uuid import UUID

import msgspec

from penstock.kernel.wire import encode
from penstock.protocol import subjects
from penstock.protocol.assignment import AssignmentReport, AssignmentState
from penstock.protocol.cloudevent import CloudEvent
from penstock.protocol.event_source import EventReport, SourceEvent
from penstock.protocol.report import (
    FlowReport,
    FlowState,
    LogLine,
    LogReport,
    RunFinished,
    RunStarted,
    ScheduleReport,
    TickReport,
)
from penstock.protocol.transfer import TransferReport


class Channel(StrEnum):
    """A row of messages of one kind; each keeps its order."""

    SCHEDULES = subjects.SCHEDULES
    FLOWS = subjects.FLOWS
    LOGS = subjects.LOGS
    WEB_JOBS = subjects.WEB_JOBS
    EVENTS = subjects.EVENTS
    TRANSFERS = subjects.TRANSFERS
    ENDPOINTS = subjects.ENDPOINTS


class Part(StrEnum):
    """Which list of its report an entry belongs to."""

    TICK = "tick"
    STARTED = "started"
    FINISHED = "finished"
    STATE = "state"
    LINE = "line"
    EVENT = "event"
    STATUS = "status"
    RUN = "run"
    FILE = "file"


class Entry(NamedTuple):
    """flow: the name of the flow, or the key of the assigned item, that it tells of."""

    channel: Channel
    part: Part
    flow: str
    body: bytes


def tick_entry(tick: TickReport) -> Entry:
    return Entry(Channel.SCHEDULES, Part.TICK, tick.flow, encode(tick))


def started_entry(run: RunStarted) -> Entry:
    return Entry(Channel.SCHEDULES, Part.STARTED, run.flow, encode(run))


def finished_entry(run: RunFinished) -> Entry:
    return Entry(Channel.SCHEDULES, Part.FINISHED, run.flow, encode(run))


def state_entry(state: FlowState) -> Entry:
    return Entry(Channel.FLOWS, Part.STATE, state.name, encode(state))


def line_entry(line: LogLine) -> Entry:
    return Entry(Channel.LOGS, Part.LINE, line.flow, encode(line))


def event_entry(source_id: UUID, event: CloudEvent) -> Entry:
    body = SourceEvent(source_id=source_id, event=msgspec.Raw(event.to_json()))
    return Entry(Channel.EVENTS, Part.EVENT, str(source_id), encode(body))


def status_entry(channel: Channel, state: AssignmentState) -> Entry:
    return Entry(channel, Part.STATUS, str(state.key), encode(state))


def insert_entries(connection: sqlite3.Connection, entries: Iterable[Entry]) -> None:
    """Adds entries in their order. A state replaces the one before that no message holds yet."""
    rows = list(entries)
    connection.executemany(
        "DELETE FROM outbox WHERE flow = ? AND part = 'state' AND batch IS NULL",
        [(row.flow,) for row in rows if row.part is Part.STATE],
    )
    connection.executemany(
        "DELETE FROM outbox WHERE flow = ? AND channel = ? AND part = 'status' AND batch IS NULL",
        [(row.flow, row.channel) for row in rows if row.part is Part.STATUS],
    )
    connection.executemany("INSERT INTO outbox (channel, part, flow, entry) VALUES (?, ?, ?, ?)", rows)


def report(channel: Channel, entries: Sequence[tuple[str, bytes]]) -> bytes:
    """The message that carries the entries, given as part and body."""

    def of(part: Part) -> list[Any]:
        return [msgspec.Raw(body) for name, body in entries if name == part]

    match channel:
        case Channel.SCHEDULES:
            return encode(ScheduleReport(ticks=of(Part.TICK), started=of(Part.STARTED), finished=of(Part.FINISHED)))
        case Channel.FLOWS:
            return encode(FlowReport(states=of(Part.STATE)))
        case Channel.LOGS:
            return encode(LogReport(lines=cast(list[LogLine], of(Part.LINE))))
        case Channel.EVENTS:
            return encode(EventReport(events=of(Part.EVENT), states=of(Part.STATUS)))
        case Channel.TRANSFERS:
            return encode(
                TransferReport(states=of(Part.STATUS), ticks=of(Part.TICK), runs=of(Part.RUN), files=of(Part.FILE))
            )
        case _:
            return encode(AssignmentReport(states=of(Part.STATUS)))
