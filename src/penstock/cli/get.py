"""`penstock get`."""

import time
from collections.abc import Callable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

import click
from click.shell_completion import CompletionItem

from penstock.cli.column import Row
from penstock.cli.connection import connect, url_option
from penstock.cli.listings.catalog import LISTINGS, listing_named
from penstock.cli.listings.listing import Listing
from penstock.cli.table import show_table
from penstock.cli.text import as_json, as_yaml
from penstock.kernel.errors import NotFound

if TYPE_CHECKING:
    from penstock.client.client import Client

_TABLE = "table"
_WATCH_SECONDS = 1.0


class _Kind(click.ParamType[Listing]):
    """The name of a listing."""

    name = "kind"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Listing:
        if isinstance(value, Listing):
            return value
        listing = listing_named(value)
        if listing is None:
            known = [each.name for each in LISTINGS]
            near = get_close_matches(value.lower(), known, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(known)}."
            self.fail(f"there is no kind '{value}'; {hint}", param, ctx)
        return listing

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(each.name) for each in LISTINGS if each.name.startswith(incomplete.lower())]


_ALONE = ", ".join(each.name for each in LISTINGS if each.of is None)
_BELONGING = ", ".join(f"{each.name} (of the {each.of} NAME)" for each in LISTINGS if each.of is not None)


@click.command(epilog=f"Kinds: {_ALONE}, {_BELONGING}.")
@click.argument("kind", type=_Kind())
@click.argument("name", required=False)
@click.option("-o", "--output", type=click.Choice([_TABLE, "json", "yaml"]), default=_TABLE, show_default=True)
@click.option("--watch", is_flag=True, help="Show it again whenever it changes, until Ctrl-C.")
@url_option
def get(kind: Listing, name: str | None, output: str, watch: bool, url: str | None) -> None:
    """Show all things of a KIND, or the one called NAME."""
    if kind.of is not None and name is None:
        raise click.UsageError(f"Say of which {kind.of}: penstock get {kind.name} NAME")
    with connect(url) as client:
        if watch:
            _watch(lambda: _read(client, kind, name, output), lambda found: _show(kind, found, output))
        else:
            _show(kind, _read(client, kind, name, output), output)


def _read(client: "Client", kind: Listing, name: str | None, output: str) -> Any:
    if name is None:
        return client.read(kind.path)
    if kind.of is not None:
        return _belonging(client, kind, name)
    if kind.item is not None and output != _TABLE:  # the columns are those of the list
        return client.read(kind.item.format(name=quote(name, safe="")))
    return _find(client, kind, name)


def _belonging(client: "Client", kind: Listing, name: str) -> Any:
    """What belongs to the thing of this name."""
    id = _find(client, kind.owner, name)["Id"] if kind.owner is not None else None
    found = client.read(kind.path.format(name=quote(name, safe=""), id=id))
    return found[kind.rows] if kind.rows is not None else found


def _find(client: "Client", kind: Listing, name: str) -> Row:
    found = client.read(kind.path)
    wanted = name.casefold()
    for row in found:
        if wanted in (str(row[key]).casefold() for key in kind.keys):
            return cast(Row, row)
    near = get_close_matches(name, [str(row[kind.keys[0]]) for row in found], n=1)
    raise NotFound(f"there is no '{name}' among the {kind.name}" + (f"; did you mean '{near[0]}'?" if near else ""))


def _show(kind: Listing, found: Any, output: str) -> None:
    if output == "json":
        click.echo(as_json(found))
    elif output == "yaml":
        click.echo(as_yaml(found), nl=False)
    else:
        show_table(kind.name, kind.columns, found if isinstance(found, list) else [found])


def _watch(read: Callable[[], Any], show: Callable[[Any], None]) -> None:
    last: Any = None
    while True:
        found = read()
        if found != last:
            click.clear()
            show(found)
            last = found
        time.sleep(_WATCH_SECONDS)
