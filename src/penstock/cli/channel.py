"""`penstock channel`."""

from datetime import UTC, datetime

import click

from penstock.cli.connection import connect, url_option


class Moment(click.ParamType[datetime]):
    """A time of ISO 8601; a date is its midnight, and without an offset it is UTC."""

    name = "time"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"'{value}' is no time like 2026-01-31 or 2026-01-31T08:30:00Z", param, ctx)
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


@click.group()
def channel() -> None:
    """Deliver a channel's events again."""


@channel.command()
@click.argument("channel")
@url_option
def enable(channel: str, url: str | None) -> None:
    """Deliver the events of CHANNEL again, after an endpoint had disabled it.

    An endpoint does so by answering that it is gone (HTTP 410); `penstock get deliveries` shows which channels are
    disabled, and why. Delivery goes on with the event that disabled it.
    """
    with connect(url) as client:
        waiting = client.enable_channel(channel)
    click.echo(f"{channel} is delivered again; {waiting} {'event waits' if waiting == 1 else 'events wait'}")


@channel.command()
@click.argument("channel")
@click.option("--from", "since", type=Moment(), required=True, help="When the first of them was accepted.")
@click.option("--to", "until", type=Moment(), help="When the last of them was accepted. Default: now.")
@click.option("--type", "event_type", metavar="TYPE", help="Only events of this type.")
@click.option("--source", metavar="SOURCE", help="Only events of this source.")
@click.option("--all", "every", is_flag=True, help="Also events that did not go to CHANNEL then.")
@url_option
def replay(
    channel: str,
    since: datetime,
    until: datetime | None,
    event_type: str | None,
    source: str | None,
    every: bool,
    url: str | None,
) -> None:
    """Deliver accepted events again to CHANNEL, whether they arrived then or not.

    They keep their ids and go to all endpoints of CHANNEL, in the order in which they were accepted. Times without an
    offset are UTC.
    """
    with connect(url) as client:
        count = client.replay_history(
            channel, since, until or datetime.now(UTC), event_type=event_type, source=source, every=every
        )
    click.echo(f"{count} will be delivered again")
