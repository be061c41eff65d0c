"""Rows as a table."""

from collections.abc import Iterable, Sequence

import click

from penstock.cli.column import Column, Row

_ENDLESS = 1_000_000


def show_table(things: str, columns: Iterable[Column], rows: Sequence[Row]) -> None:
    """Prints the rows. things: what they are, for saying that there are none."""
    if not rows:
        click.echo(f"There are no {things}.", err=True)
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    columns = list(columns)
    for column in columns:
        table.add_column(column.title, overflow="fold")
    for row in rows:
        table.add_row(*(Text(column.text(row)) for column in columns))
    console = Console()
    if not console.is_terminal:
        # A pipe has no width; what reads it wants each thing on one line.
        console = Console(width=Console(width=_ENDLESS).measure(table).maximum)
    console.print(table)
