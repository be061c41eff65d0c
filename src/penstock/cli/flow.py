"""`penstock flow`."""

import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from penstock.cli.connection import connect, url_option
from penstock.cli.failure import EXIT_FAILED
from penstock.cli.logs import logs
from penstock.kernel.errors import Invalid

if TYPE_CHECKING:
    from penstock.client.flows import FlowOnAgent, Flows

_RUNNING, _ERROR, _, _UNKNOWN = range(4)
_WORDS = ("Running", "Error", "Stopped", "Unknown")
_COLOURS = ("green", "red", None, "yellow")
_PATIENCE_SECONDS = 20.0
_POLL_SECONDS = 0.3
_CLOCKS_DIFFER_SECONDS = 1.0
_FIELD = "FlowSpec"
C = TypeVar("C", bound=Callable[..., Any])


@click.group()
def flow() -> None:
    """Run, stop and look after flows.

    `penstock get flows` lists them, `penstock get versions NAME` what was saved of one. Configuration documents of
    kind IntegrationFlow are applied with `penstock apply`.
    """


_existing = click.Path(exists=True, dir_okay=False, path_type=Path)
_OPTIONS = (
    click.argument("file", type=_existing),
    click.option("--name", help="What the flow is called; else the file's name without its ending."),
    click.option(
        "--file",
        "files",
        multiple=True,
        type=_existing,
        help="A text that goes into the flow's folder. May be given several times.",
    ),
    click.option("--var", "variables", multiple=True, metavar="NAME=VALUE", help="A variable of the flow's own."),
    click.option(
        "--require", "requirements", multiple=True, metavar="NAME=VALUE", help="A capability that agents must have."
    ),
    click.option("--package", "packages", multiple=True, help="A Maven coordinate or Python requirement."),
    url_option,
)


def _with_content(command: C) -> C:
    """The parameters that make up a flow."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@flow.command()
@_with_content
def run(file: Path, name: str | None, url: str | None, **content: Sequence[Any]) -> int:
    """Save the routes in FILE, Camel's YAML DSL, as a flow, start it, and wait until agents have told how it stands."""
    name = name or _name_of(file)
    with connect(url) as client:
        from penstock.client.flows import Flows

        flows = Flows(client)
        begun = time.time()
        _save(flows, file, name, start=True, **content)
        return _await(flows, name, begun)


@flow.command()
@_with_content
def save(file: Path, name: str | None, url: str | None, **content: Sequence[Any]) -> None:
    """Save the routes in FILE as a flow's next version. A new flow stays stopped; one that runs takes it up."""
    name = name or _name_of(file)
    with connect(url) as client:
        from penstock.client.flows import Flows

        _save(Flows(client), file, name, start=False, **content)
    click.echo(f"flow {name} saved")


@flow.command()
@click.argument("name")
@url_option
def start(name: str, url: str | None) -> int:
    """Start the flow NAME on every agent that it matches."""
    with connect(url) as client:
        from penstock.client.flows import Flows

        flows = Flows(client)
        begun = time.time()
        flows.start(name)
        return _await(flows, name, begun)


@flow.command()
@click.argument("name")
@url_option
def stop(name: str, url: str | None) -> None:
    """Stop the flow NAME everywhere."""
    with connect(url) as client:
        from penstock.client.flows import Flows

        Flows(client).stop(name)
    click.echo(f"flow {name} is to stop")


@flow.command()
@click.argument("name")
@click.argument("version")
@url_option
def restore(name: str, version: str, url: str | None) -> None:
    """Save VERSION of the flow NAME again, as its latest version. `penstock get versions NAME` lists them."""
    with connect(url) as client:
        from penstock.client.flows import Flows

        Flows(client).restore(name, version)
    click.echo(f"flow {name} is as version {version} was")


@flow.command()
@click.argument("name")
@url_option
def remove(name: str, url: str | None) -> None:
    """Remove the flow NAME; agents end it."""
    with connect(url) as client:
        from penstock.client.flows import Flows

        Flows(client).delete(name)
    click.echo(f"flow {name} removed")


@flow.command()
@click.argument("name")
@url_option
def status(name: str, url: str | None) -> int:
    """Show how the flow NAME stands on each agent. Fails when it is in error on one."""
    with connect(url) as client:
        from penstock.client.flows import Flows

        return _show(Flows(client).on_agents(name))


flow.add_command(logs)


def _save(
    flows: "Flows",
    file: Path,
    name: str,
    *,
    start: bool,
    files: Sequence[Path],
    variables: Sequence[str],
    requirements: Sequence[str],
    packages: Sequence[str],
) -> None:
    try:
        flows.save(
            name,
            _text(file),
            start=start,
            files={each.name: _text(each) for each in files},
            variables=_pairs("--var", variables),
            requirements=_pairs("--require", requirements),
            packages=packages,
        )
    except Invalid as error:
        from penstock.cli.text import visible

        lines = ["nothing was saved:", *(f"  {line}" for line in _told(error, file))]
        raise click.ClickException(visible("\n".join(lines))) from None


def _told(error: Invalid, file: Path) -> Iterable[str]:
    for each in error.errors:
        place = str(file) if each.field == _FIELD else each.field
        yield f"{place}: {each.message}" if place else each.message


def _await(flows: "Flows", name: str, begun: float) -> int:
    """Shows how the flow stands once every agent has told of this version; what stands by then otherwise."""
    version = flows.version(name)
    until = time.monotonic() + _PATIENCE_SECONDS
    while True:
        found = flows.on_agents(name)
        if all(_is_settled(each, version, begun) for each in found) or time.monotonic() > until:
            return _show(found)
        time.sleep(_POLL_SECONDS)


def _is_settled(flow: "FlowOnAgent", version: str, begun: float) -> bool:
    if flow.version != version:
        return False
    # An error may be one of before.
    told_since = flow.update_time.timestamp() >= begun - _CLOCKS_DIFFER_SECONDS
    return flow.status == _RUNNING or (flow.status == _ERROR and told_since)


def _show(found: "Sequence[FlowOnAgent]") -> int:
    from penstock.cli.text import visible

    if not found:
        click.echo("No agent matches the flow: `penstock get flows` says what it needs.", err=True)
        return EXIT_FAILED
    for each in found:
        word = each.detail.state if each.detail is not None and each.detail.state and each.status == _UNKNOWN else None
        shown = click.style(visible(word or _WORDS[each.status]), fg=_COLOURS[each.status])
        parts = [f"{visible(each.agent)}: {shown}", f"version {each.version or '-'}"]
        parts += [visible(part) for part in (each.flow_engine_version, *_counts(each)) if part]
        click.echo(", ".join(parts))
        if each.message:
            click.echo("\n".join(f"  {visible(line)}" for line in each.message.splitlines()))
    return EXIT_FAILED if any(each.status == _ERROR for each in found) else 0


def _counts(flow: "FlowOnAgent") -> Iterable[str]:
    detail = flow.detail
    if detail is None or detail.statistics is None:
        return
    yield f"up {detail.up_time}"
    yield f"{detail.statistics.exchanges_total} exchanges, {detail.statistics.exchanges_failed} failed"
    yield f"{detail.statistics.mean_processing_time} ms each"


def _name_of(file: Path) -> str:
    """`orders` for `orders.camel.yaml`."""
    return file.name.partition(".")[0]


def _text(file: Path) -> str:
    try:
        return file.read_text()
    except UnicodeDecodeError:
        raise click.ClickException(f"{file} is no text in UTF-8") from None


def _pairs(option: str, given: Iterable[str]) -> dict[str, str]:
    pairs = {}
    for each in given:
        name, separator, value = each.partition("=")
        if not separator or not name:
            raise click.UsageError(f"{option} takes NAME=VALUE, not '{each}'")
        pairs[name] = value
    return pairs
