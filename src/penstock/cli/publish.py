"""`penstock publish`."""

from typing import BinaryIO

import click

from penstock.cli.connection import connect, url_option

_SOURCE = "/penstock/cli"


@click.command()
@click.option("-f", "--file", type=click.File("rb"), default="-", help="Default: standard input.")
@click.option("--type", "event_type", metavar="TYPE", help="Makes one event of this type; FILE holds its data.")
@click.option("--source", metavar="SOURCE", default=_SOURCE, show_default=True, help="With --type: its source.")
@click.option("--id", metavar="ID", help="With --type: its id. Default: a new one.")
@url_option
def publish(file: BinaryIO, event_type: str | None, source: str, id: str | None, url: str | None) -> None:
    """Publish events, and print their ids once they are stored.

    FILE holds a CloudEvent, an array of them, or data, in JSON. Data alone becomes an event of the type penstock.data.
    An event with the source and id of one that was stored in the last two minutes is not stored again.
    """
    if event_type is None and id is not None:
        raise click.UsageError("--id needs --type; without it, events in the file have ids of their own.")
    if file.isatty():
        click.echo("Reading from the terminal, to Ctrl-D ...", err=True)
    body = file.read()
    if event_type is not None:
        body = _event(body, event_type, source, id)
    with connect(url) as client:
        for published in client.publish(body):
            click.echo(published)


def _event(data: bytes, event_type: str, source: str, id: str | None) -> bytes:
    """A CloudEvent in JSON, with the data or, of empty data, without any."""
    import msgspec

    from penstock.kernel.ids import new_id

    event = {"specversion": "1.0", "id": id or str(new_id()), "source": source, "type": event_type}
    if data.strip():
        try:
            event |= {"datacontenttype": "application/json", "data": msgspec.json.decode(data)}
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise click.ClickException(f"the data is not valid JSON: {error}") from None
    return msgspec.json.encode(event)
