"""The agent's own log: one line per event on standard error."""

import contextlib
import logging
import sys
from typing import Any, TextIO, cast

import structlog


class _StandardError:
    """Standard error that may fail: a log that cannot be written, on a full disk, must not end the agent."""

    def write(self, text: str) -> int:
        with contextlib.suppress(OSError):
            return sys.stderr.write(text)
        return 0

    def flush(self) -> None:
        with contextlib.suppress(OSError):
            sys.stderr.flush()


def set_up_log(form: str, level: str) -> None:
    """form: json or console. level: debug, info, warning or error."""
    shared: list[Any] = [
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    # Plain tracebacks: the default ones show local variables, passwords and tokens among them.
    renderers: list[Any] = (
        [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback)]
        if form == "console"
        else [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    )
    structlog.configure(
        processors=[*shared, *renderers],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.WriteLoggerFactory(file=cast(TextIO, _StandardError())),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(_StandardError())
    formatted = [structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderers]
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=formatted))
    root = logging.getLogger()
    root.handlers = [handler]
    # Libraries log requests and addresses below this; what matters of that the agent says itself.
    root.setLevel(logging.WARNING)
