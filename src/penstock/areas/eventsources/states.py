"""How event sources stand on agents."""

from penstock.areas.eventsources.stored import INSTANCES, SOURCE_STATES
from penstock.protocol.event_source import EventSourceStatus
from penstock.resource.assignment_states import AssignmentStates


class SourceStates(AssignmentStates[EventSourceStatus]):
    """The last that each agent reported."""

    collection = SOURCE_STATES
    items = INSTANCES
    status = EventSourceStatus
