"""`penstock rehandle`."""

import click

from penstock.cli.connection import connect, url_option


@click.command()
@click.argument("webhook")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@url_option
def rehandle(webhook: str, ids: tuple[str, ...], url: str | None) -> None:
    """Publish requests that WEBHOOK received again, in the order given.

    `penstock get requests WEBHOOK` shows their ids. Stops at the first that cannot be published.
    """
    with connect(url) as client:
        for id in ids:
            client.rehandle(webhook, id)
            click.echo(f"{id} handled again")
