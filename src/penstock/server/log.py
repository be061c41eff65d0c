"""Logs: one line per event, JSON for machines or readable text for a terminal."""

import logging
import sys
from typing import Any

import structlog


def set_up_logs(form: str, level: str) -> None:
    """form: json, console, or auto (console on a terminal). level: debug, info, warning, error."""
    console = form == "console" or (form == "auto" and sys.stderr.isatty())
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    ]
    # Plain tracebacks: the default ones show local variables, passwords and tokens among them.
    renderers: list[Any] = (
        [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback)]
        if console
        else [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    )
    structlog.configure(
        processors=[*shared, *renderers],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )
    _route_standard_logs(shared, renderers, level)


def _route_standard_logs(shared: list[Any], renderers: list[Any], level: str) -> None:
    # Libraries log through the standard module; their lines get the same form.
    handler = logging.StreamHandler(sys.stderr)
    processors = [structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderers]
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=processors))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    for noisy in ("httpx", "httpcore", "nats", "uvicorn.access"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
