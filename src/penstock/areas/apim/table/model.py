"""What operations answer of what gateways are told to serve."""

from penstock.kernel.wire import Wire


class PublishingProblem(Wire):
    """Name: of a version, `api/version`, or of a subscription. Problem: why it cannot be served, without secrets."""

    name: str
    problem: str
