"""`penstock api`."""

from typing import Any

import click

from penstock.cli.connection import connect, url_option
from penstock.kernel.duration import Duration


class Span(click.ParamType[Duration]):
    """A duration of ISO 8601, or `[d.]hh:mm:ss`."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Duration:
        try:
            return Duration.parse(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


@click.group()
def api() -> None:
    """Look after keys of published APIs.

    `penstock get apis`, `apiversions`, `apisubscriptions`, `apiusage` and `gateways` show what there is.
    """


@api.command()
@click.argument("subscription")
@click.option("--renew", is_flag=True, help="Make a new key; the one before holds on for the overlap.")
@click.option("--overlap", type=Span(), help="How long it does, like PT1H or 00:00:00. Default: a day.")
@click.option("--revoke", is_flag=True, help="End all keys now.")
@url_option
def key(subscription: str, renew: bool, overlap: Duration | None, revoke: bool, url: str | None) -> None:
    """Show the key of SUBSCRIPTION, alone on its line; of type basic it is the password.

    That a key was shown is on record. Gateways follow within a second.
    """
    if revoke and renew:
        raise click.UsageError("--renew and --revoke exclude each other")
    if overlap is not None and not renew:
        raise click.UsageError("--overlap belongs to --renew")
    from penstock.client.api_keys import ApiKeys

    with connect(url) as client:
        keys = ApiKeys(client)
        if revoke:
            keys.revoke(subscription)
            click.echo(f"The keys of {subscription} are revoked; --renew makes a new one.")
        else:
            click.echo(keys.renew(subscription, overlap) if renew else keys.show(subscription))
