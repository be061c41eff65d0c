"""`penstock mft`."""

from typing import TYPE_CHECKING

import click

from penstock.cli.connection import connect, url_option
from penstock.cli.failure import EXIT_FAILED

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from rich.progress import Progress as Bars
    from rich.progress import TaskID

    from penstock.client.transfers import AgentProgress, Transfers


@click.group()
def mft() -> None:
    """Run file transfers.

    `penstock get transfers` lists them, `penstock get transfer-runs NAME` and `penstock get transferred-files NAME`
    tell what they did.
    """


@mft.command()
@click.argument("name")
@click.option("--follow", is_flag=True, help="Show the progress until the run has ended; its failure is the command's.")
@click.option("--force", is_flag=True, help="Let a sync delete as much of the destination as it would.")
@url_option
def run(name: str, follow: bool, force: bool, url: str | None) -> int:
    """Run the file transfer NAME now, on every agent that it matches.

    Where a run of it is under way already, that one counts.
    """
    from penstock.client.transfers import Transfers

    with connect(url) as client:
        transfers = Transfers(client)
        order = transfers.run(name, force=force)
        if follow:
            return _follow(transfers, name, order)
    click.echo(f"Ordered. `penstock get transfer-runs {name}` shows what comes of it.")
    return 0


def _follow(transfers: "Transfers", name: str, order: "UUID") -> int:
    """Shows a bar for each agent until all that are online have followed the order; answers the exit code."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    bars: dict[str, TaskID] = {}
    agents: Sequence[AgentProgress] = ()
    with Progress(*columns, TimeRemainingColumn()) as display:
        for agents in transfers.follow(name):
            online = [each for each in agents if each.online]
            for each in online:
                _show(display, bars, each)
            if not online or all(each.has_followed(order) for each in online):
                break
    return _told(name, [each for each in agents if each.online])


def _show(display: "Bars", bars: "dict[str, TaskID]", agent: "AgentProgress") -> None:
    if agent.stats is None:
        return
    if agent.agent not in bars:
        bars[agent.agent] = display.add_task(agent.agent, total=None)
    stats = agent.stats
    display.update(
        bars[agent.agent],
        completed=stats.bytes,
        total=stats.total_bytes or None,
        description=f"{agent.agent}  {stats.transfers}/{stats.total_transfers} files",
    )


def _told(name: str, agents: "Sequence[AgentProgress]") -> int:
    from penstock.cli.text import visible

    if not agents:
        click.echo(f"No agent that is online matches the file transfer {name}; the order waits for one.", err=True)
        return EXIT_FAILED
    for each in agents:
        word = f"failed: {each.message}" if each.failed else "done"
        click.echo(f"{visible(each.agent)}: {visible(word)}")
    return EXIT_FAILED if any(each.failed for each in agents) else 0
