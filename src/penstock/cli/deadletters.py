"""`penstock deadletters`."""

from typing import TYPE_CHECKING
from urllib.parse import quote

import click

from penstock.cli.column import Column, Row
from penstock.cli.connection import connect, url_option
from penstock.cli.table import show_table
from penstock.cli.text import as_json

if TYPE_CHECKING:
    from penstock.client.client import Client

_PATH = "/eventing/deadletters"
_OF_CHANNEL = (
    Column("SEQUENCE", "Sequence"),
    Column("GIVEN UP", "Time"),
    Column("EVENT TYPE", "EventType"),
    Column("EVENT ID", "EventId"),
    Column("TRIES", lambda row: max((each["Tries"] for each in row["Failures"]), default=0)),
    Column("REASON", lambda row: _reason(row)),
)
_OF_ALL = (Column("CHANNEL", "Channel"), Column("COUNT", "Count"), Column("OLDEST", "Oldest"))

_sequences = click.argument("sequences", nargs=-1, type=click.IntRange(min=1), metavar="[SEQUENCE]...")
_every = click.option("--all", "every", is_flag=True, help="All dead letters of the channel.")


@click.group()
def deadletters() -> None:
    """Events that channels could not deliver."""


@deadletters.command("list")
@click.argument("channel", required=False)
@click.option(
    "-n", "--count", type=click.IntRange(1, 1000), default=100, show_default=True, help="How many of a CHANNEL."
)
@click.option("-o", "--output", type=click.Choice(["table", "json"]), default="table", show_default=True)
@url_option
def list_(channel: str | None, count: int, output: str, url: str | None) -> None:
    """Show the newest dead letters of CHANNEL with the reasons, or which channels have any."""
    with connect(url) as client:
        found = client.read(_PATH) if channel is None else client.read(_path(channel), {"Count": count})
    if output == "json":
        click.echo(as_json(found))
    else:
        show_table("dead letters", _OF_ALL if channel is None else _OF_CHANNEL, found)


@deadletters.command()
@click.argument("channel")
@click.argument("sequence", type=click.IntRange(min=1))
@url_option
def show(channel: str, sequence: int, url: str | None) -> None:
    """Show a dead letter of CHANNEL with its event, in JSON."""
    with connect(url) as client:
        click.echo(as_json(client.read(f"{_path(channel)}/{sequence}")))


@deadletters.command()
@click.argument("channel")
@_sequences
@_every
@url_option
def replay(channel: str, sequences: tuple[int, ...], every: bool, url: str | None) -> None:
    """Deliver dead letters of CHANNEL again, to the endpoints that do not have the event.

    What fails again becomes a new dead letter.
    """
    _check(sequences, every)
    with connect(url) as client:
        count = sum(client.replay_dead_letters(channel, each) for each in _ranges(client, channel, sequences))
    _tell(count, "will be delivered again", sequences)


@deadletters.command()
@click.argument("channel")
@_sequences
@_every
@url_option
def discard(channel: str, sequences: tuple[int, ...], every: bool, url: str | None) -> None:
    """Remove dead letters of CHANNEL for good."""
    _check(sequences, every)
    with connect(url) as client:
        count = sum(client.discard_dead_letters(channel, each) for each in _ranges(client, channel, sequences))
    _tell(count, "discarded", sequences)


def _check(sequences: tuple[int, ...], every: bool) -> None:
    if every == bool(sequences):
        raise click.UsageError("Name dead letters by their SEQUENCE, or all of the channel's by --all.")


def _ranges(client: "Client", channel: str, sequences: tuple[int, ...]) -> list[range]:
    """The sequences; without any, all that there are now: what a replay adds is not meant."""
    if sequences:
        return [range(each, each + 1) for each in sequences]
    newest = client.read(_path(channel), {"Count": 1})
    return [range(1, row["Sequence"] + 1) for row in newest]


def _tell(count: int, done: str, sequences: tuple[int, ...]) -> None:
    click.echo(f"{count} {done}")
    missing = len(set(sequences)) - count
    if missing > 0:
        raise click.ClickException(f"{missing} of them {'is' if missing == 1 else 'are'} not there (any more)")


def _path(channel: str) -> str:
    return f"{_PATH}/{quote(channel, safe='')}"


def _reason(row: Row) -> str:
    return "; ".join(f"{each['Type']}: {each['Error']}" for each in row["Failures"])
