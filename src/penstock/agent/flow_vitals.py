"""How the agent's flows are, for its signs of life: those in which something happened, and the others in turn."""

import os
from collections.abc import Iterator
from itertools import islice

from penstock.agent.engines import Engines
from penstock.agent.flow_log import FlowLog
from penstock.agent.held_flow import HeldFlow
from penstock.agent.keeper import FlowKeeper
from penstock.agent.listener import AgentListener
from penstock.flow.statistics import age
from penstock.kernel.clock import Clock
from penstock.kernel.errors import NotFound
from penstock.kernel.wire import encode
from penstock.protocol.status import IntegrationStatus

_MOST = 500
_IN_TURN = 5  # few: the servers keep some signs of life for a month
_BYTES = 128 * 1024  # of one sign of life


class FlowVitals:
    """What does not fit into one sign of life comes with the next."""

    def __init__(
        self, keeper: FlowKeeper, engines: Engines, listener: AgentListener, flow_log: FlowLog, clock: Clock
    ) -> None:
        self._keeper = keeper
        self._engines = engines
        self._listener = listener
        self._flow_log = flow_log
        self._clock = clock
        self._turn: Iterator[str] = iter(())
        self._folder = os.getcwd()

    def told(self) -> list[IntegrationStatus]:
        """For one sign of life."""
        found: list[IntegrationStatus] = []
        size = 0
        for flow in self._next():
            held = self._keeper.flows.get(flow)
            if held is None:
                continue  # its end is reported for itself
            status = self._of(held)
            found.append(status)
            size += len(encode(status))
            if size > _BYTES:
                break
        return found

    def _next(self) -> Iterator[str]:
        """Takes the flows' names from what waits to be told."""
        touched = self._listener.touched
        told: set[str] = set()
        while touched and len(told) < _MOST:
            told.add(flow := touched.pop())
            yield flow
        left = list(islice(self._turn, _IN_TURN))
        if len(left) < _IN_TURN:  # the round is over: the next one begins with what there is now
            self._turn = iter(sorted(self._keeper.flows))
        yield from (flow for flow in left if flow not in told)

    def _of(self, held: HeldFlow) -> IntegrationStatus:
        folder = held.folder
        status = IntegrationStatus(
            integration_name=held.name,
            integration_file=folder.text.name if folder is not None else None,
            integration_file_path=str(folder.text) if folder is not None else None,
            working_directory=str(folder.files) if folder is not None else self._folder,
            state=held.word,
            log_messages=list(self._flow_log.last(held.name)),
        )
        try:
            running = self._engines.status(held.name)
        except NotFound:
            return status
        status.pid = running.pid
        status.state = running.state
        status.up_time = age(self._clock.now() - running.started)
        status.statistics = running.statistics
        return status
