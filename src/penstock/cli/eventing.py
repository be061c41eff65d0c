"""`penstock eventing`."""

import sys

import click

from penstock.cli.connection import connect, url_option


@click.group()
def eventing() -> None:
    """Look after events."""


@eventing.command()
@url_option
def reindex(url: str | None) -> None:
    """Make the history of events anew from the stream of accepted events.

    It can go on while events are published. Stopping it does no harm; running it again begins anew.
    """
    in_place = sys.stderr.isatty()
    with connect(url) as client:
        for progress in client.reindex():
            if in_place:
                click.echo(f"\r{progress.done} of {progress.total} events", nl=progress.finished, err=True)
    skipped = f"; {progress.skipped} messages are no events" if progress.skipped else ""
    click.echo(f"{progress.done - progress.skipped} events are in the history{skipped}")
