"""`penstock logs`."""

import time
from typing import TYPE_CHECKING
from uuid import UUID

import click

from penstock.cli.connection import connect, url_option

if TYPE_CHECKING:
    from penstock.client.client import Client
    from penstock.client.model import LogMessage

_POLL_SECONDS = 1.0
_AT_ONCE = 1000
_COLOURS = {"ERROR": "red", "WARN": "yellow", "DEBUG": "bright_black"}


@click.command()
@click.argument("flow")
@click.option("-n", "--count", type=click.IntRange(0, _AT_ONCE), default=50, show_default=True, help="How many lines.")
@click.option("--follow", is_flag=True, help="Go on with new lines until Ctrl-C.")
@url_option
def logs(flow: str, count: int, follow: bool, url: str | None) -> None:
    """Show the newest lines that FLOW logged.

    The flow of a schedule is called schedule-NAME, and what a web job writes is found as webjob-NAME.
    """
    with connect(url) as client:
        lines = client.logs(flow, _AT_ONCE if follow else count)
        for line in lines[-count:] if count else ():
            _show(line)
        if follow:
            _follow(client, flow, {line.id for line in lines})


def _follow(client: "Client", flow: str, known: set[UUID]) -> None:
    while True:
        time.sleep(_POLL_SECONDS)
        lines = client.logs(flow, _AT_ONCE)
        for line in lines:
            if line.id not in known:
                _show(line)
        known = {line.id for line in lines}


def _show(line: "LogMessage") -> None:
    from penstock.cli.text import visible

    level = visible(line.log_level or "").upper()
    when = line.time_stamp.astimezone().isoformat(sep=" ", timespec="milliseconds")
    click.echo(f"{when} {click.style(f'{level:5}', fg=_COLOURS.get(level))} {visible(line.message or '')}")
    for detail in (line.exception_type, line.exception_message, line.stack_trace):
        if detail:
            click.echo("\n".join(f"    {visible(each)}" for each in detail.splitlines()))
