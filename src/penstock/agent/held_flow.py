"""A flow that the agent has, as it stands here."""

from datetime import datetime

import msgspec

from penstock.agent.account import STOPPED, Rule
from penstock.agent.due_times import DueTimes
from penstock.agent.flow_folders import FlowFolder
from penstock.protocol.report import FlowState, IntegrationFlowStatusEnum, TickOutcome
from penstock.protocol.work import IntegrationStatusEnum2, WorkItem


class HeldFlow(msgspec.Struct, frozen=True):
    """stamp: of the item that it was made from. problem: why it does not run, None when nothing is wrong.

    status: Unknown while it waits to be started again after a crash. engine: name and version of what runs it.
    folder: where its text and files lie.
    """

    name: str
    stamp: str
    version: str
    schedule: str | None
    status: IntegrationFlowStatusEnum
    problem: str | None = None
    engine: str | None = None
    folder: FlowFolder | None = None

    @property
    def is_running(self) -> bool:
        return self.status is IntegrationFlowStatusEnum.RUNNING

    @property
    def waits(self) -> bool:
        """Whether it is to be started again in a moment."""
        return self.status is IntegrationFlowStatusEnum.UNKNOWN

    @property
    def word(self) -> str:
        """How it stands, in a word."""
        return "Restarting" if self.waits else self.status.name.capitalize()

    def state(self, at: datetime) -> FlowState:
        """What is reported of it."""
        return FlowState(
            name=self.name,
            version=self.version,
            status=self.status,
            at=at,
            message=self.problem,
            engine=self.engine,
        )


def held(
    item: WorkItem,
    status: IntegrationFlowStatusEnum,
    problem: str | None = None,
    engine: str | None = None,
    folder: FlowFolder | None = None,
) -> HeldFlow:
    return HeldFlow(item.name, item.stamp, item.version, item.schedule, status, problem, engine, folder)


def rule_of(item: WorkItem, due_times: DueTimes | None, reason: str = STOPPED) -> Rule:
    """What becomes of the item's due times while it does not run. reason: why, when it is wanted running."""
    stopped = item.requested is not IntegrationStatusEnum2.STARTED
    return Rule(
        flow=item.name,
        version=item.version,
        schedule=item.schedule,
        due_times=due_times,
        outcome=TickOutcome.SKIPPED if stopped else TickOutcome.MISSED,
        reason=STOPPED if stopped else reason,
    )
