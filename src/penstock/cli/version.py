"""`penstock version`."""

from importlib.metadata import version as version_of

import click


@click.command()
def version() -> None:
    """Print the version of this program."""
    click.echo(version_of("penstock"))
