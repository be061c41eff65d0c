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
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True)
@url_option
def stream(name: str, count: int, follow: bool, output: str, url: str | None) -> None:
    """Show the newest messages of the stream NAME. The stream of a schedule is called schedule-NAME."""
    with connect(url) as client:
        shown = client.messages(name, max(count, 1))
        for message in shown[-count:] if count else ():
            _show(message, output)
        if follow:
            for message in client.follow(name, shown[-1].sequence if shown else 0, _tell_gap):
                _show(message, output)


def _show(message: "StreamMessage", output: str) -> None:
    from penstock.cli.message_text import line_of, local_time, object_of
    from penstock.cli.text import as_line, visible

    if output == "json":
        click.echo(as_line(object_of(message)))
        return
    place = click.style(f"{message.sequence} {local_time(message.timestamp)}", fg="bright_black")
    click.echo(f"{place} {visible(line_of(message))}")


def _tell_gap(error: PenstockError) -> None:
    click.echo(f"{error.detail}; trying again", err=True)
