"""A board of messages as an API package: what it takes as configuration, and how it begins."""

from penstock_api_board.application import Application
from penstock_api_board.messages import Board


def board(configuration):
    """A board of messages. GET and POST /messages, new ones as events at /events, and a WebSocket at /talk."""
    return Application(Board(configuration.get("kept", 100)))


board.configuration_schema = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "kept": {"type": "integer", "minimum": 1, "maximum": 10_000, "description": "Messages that are kept."}
    },
}
