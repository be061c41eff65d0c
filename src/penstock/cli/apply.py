"""`penstock apply`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from penstock.cli.connection import connect, url_option
from penstock.kernel.errors import Invalid

if TYPE_CHECKING:
    from penstock.cli.sources import Sources
    from penstock.client.client import Client
    from penstock.client.model import PlannedChange

_DONE = {"create": "created", "change": "changed", "remove": "removed", "keep": "unchanged"}
_WOULD = {"create": "would be created", "change": "would be changed", "remove": "would be removed", "keep": "unchanged"}
_COLOURS = {"create": "green", "change": "yellow", "remove": "red"}


@click.command()
@click.option(
    "-f",
    "--file",
    "files",
    multiple=True,
    required=True,
    metavar="FILE",
    type=click.Path(),
    help="A file, a folder of .yaml, .yml and .json files, or - for standard input. May be given several times.",
)
@click.option("--dry-run", is_flag=True, help="Tell what would change, and change nothing.")
@click.option("--diff", is_flag=True, help="Show the differences.")
@url_option
def apply(files: Sequence[str], dry_run: bool, diff: bool, url: str | None) -> None:
    """Apply configuration documents: all of all files, or, when anything is wrong, none."""
    from penstock.cli.sources import Sources

    sources = Sources(files)
    with connect(url) as client:
        try:
            changes = _apply(client, sources, dry_run)
        except Invalid as error:
            raise click.ClickException(_refusal(error, sources)) from None
    for change in changes:
        _tell(change, _WOULD if dry_run else _DONE, diff)


def _apply(client: "Client", sources: "Sources", dry_run: bool) -> "list[PlannedChange]":
    changes = client.plan(sources.text)
    if not dry_run and any(change.action != "keep" for change in changes):
        client.apply(sources.text)
    return changes


def _tell(change: "PlannedChange", words: dict[str, str], diff: bool) -> None:
    name = f"{change.kind}/{change.name}"
    click.echo(f"{name} {click.style(words[change.action], fg=_COLOURS.get(change.action))}")
    if diff:
        from penstock.cli.difference import difference

        for line in difference(name, change.before, change.after):
            click.echo(line)


def _refusal(error: Invalid, sources: "Sources") -> str:
    return "\n".join(["nothing was changed:", *(f"  {sources.place(each)}" for each in error.errors)])
