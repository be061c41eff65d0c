"""The log of a program: one line per event on standard error, JSON for machines or readable text for a terminal."""

import logging
import sys
from typing import Any

import structlog


def set_up_log(form: str, level: str) -> None:
    """form: json, console, or auto (console on a terminal). level: debug, info, warning, error."""
    console = form == "console" or (form == "auto" and sys.stderr.isatty())
    # Plain tracebacks: the default ones show local variables, passwords and tokens among them.
    renderers: list[Any] = (
        [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback)]
        if console
        else [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    )
    stamps: list[Any] = [structlog.stdlib.add_log_level, structlog.processors.TimeStamper(fmt="iso", utc=True)]
    structlog.configure(
        processors=[*stamps, *renderers],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )
