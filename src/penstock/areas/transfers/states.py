"""How file transfers stand on agents."""

from penstock.areas.transfers.stored import MFT_STATES, MFTS
from penstock.protocol.transfer import TransferStatus
from penstock.resource.assignment_states import AssignmentStates


class TransferStates(AssignmentStates[TransferStatus]):
    """The last that each agent reported."""

    collection = MFT_STATES
    items = MFTS
    status = TransferStatus
