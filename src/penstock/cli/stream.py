"""`penstock stream`."""

from typing import TYPE_CHECKING

import click

from penstock.cli.connection import connect, url_option
from penstock.kernel.errors import PenstockError

if TYPE_CHECKING:
    from penstock.client.model import StreamMessage


@click.command()
@click.argument("name")
@click.option("-n", "--count", type=click.IntRange(0, 1000), default=20, show_default=True, help="How many messages.")
@click.option("--follow", is_flag=True, help="Go on with new messages until Ctrl-C.")
@url_option
def stream(name: str, count: int, follow: bool, url: str | None) -> None:
    """Show the newest messages of the stream NAME. The stream of a schedule is called schedule-NAME."""
    with connect(url) as client:
        shown = client.messages(name, max(count, 1))
        for message in shown[-count:] if count else ():
            _show(message)
        if follow:
            for message in client.follow(name, shown[-1].sequence if shown else 0, _tell_gap):
                _show(message)


def _show(message: "StreamMessage") -> None:
    when = message.timestamp.astimezone().isoformat(sep=" ", timespec="milliseconds")
    click.echo(f"{click.style(f'{message.sequence} {when}', fg='bright_black')} {_readable(message.data)}")


def _readable(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return f"{len(data)} bytes: {data[:64].hex(' ')}{' ...' if len(data) > len(data[:64]) else ''}"


def _tell_gap(error: PenstockError) -> None:
    click.echo(f"{error.detail}; trying again", err=True)
