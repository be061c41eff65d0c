"""What Envoy would not take."""

from penstock.kernel.errors import PenstockError


class TableRefused(PenstockError):
    """Envoy refuses what the table says; the one before stays in force. The detail has Envoy's reason."""

    code = "table-refused"
    title = "The table cannot be served"
