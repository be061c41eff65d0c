"""How endpoints stand on agents."""

from penstock.areas.endpoints.stored import ENDPOINT_STATES, ENDPOINTS
from penstock.protocol.endpoint import EndpointStanding
from penstock.resource.assignment_states import AssignmentStates


class EndpointStates(AssignmentStates[EndpointStanding]):
    """The last that each agent reported."""

    collection = ENDPOINT_STATES
    items = ENDPOINTS
    status = EndpointStanding
