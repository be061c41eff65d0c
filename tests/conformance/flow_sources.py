"""Flows of tests, from their steps."""

from textwrap import indent


def once(*steps: str, body: str | None = None) -> str:
    """A flow that one exchange goes through. body: a text that it begins with."""
    first = [f"setBody: {{constant: {body!r}}}"] if body is not None else []
    return route("timer:once?delay=0&repeatCount=1", *first, *steps)


def route(uri: str, *steps: str, **options: object) -> str:
    """A route. steps: each in YAML, of one line or several. options: parameters of the endpoint."""
    parameters = "".join(f"\n      {name}: {_quoted(value)}" for name, value in options.items())
    given = f"\n    parameters:{parameters}" if options else ""
    return f"- from:\n    uri: {_quoted(uri)}{given}\n    steps:\n" + "".join(_step(step) for step in steps)


def _step(step: str) -> str:
    return indent("- " + indent(step.strip(), "  ").lstrip() + "\n", "    ")


def _quoted(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else "'" + str(value).replace("'", "''") + "'"
