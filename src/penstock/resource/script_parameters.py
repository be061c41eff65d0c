"""Parameters of actions and notebooks as the API shows them, for every area that has some."""

from penstock.kernel.wire import Wire


class ActionParameter(Wire):
    """A parameter's value, as a text of JSON."""

    name: str | None = None
    value_json: str | None = None


class RunNotebookParameter(Wire):
    """A parameter's value, as a text of JSON."""

    name: str | None = None
    value_json: str | None = None
