"""`penstock engine`."""

import os
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

import click

from penstock.cli.installation import data_folder, engine_folder
from penstock.flow.camel.class_archive import make_archive
from penstock.flow.camel.installation import INSTALL_COMMAND, CamelInstallation
from penstock.flow.camel.java import NoJava, find_java
from penstock.flow.camel.release import VERSION

_MIB = 1024 * 1024

_folder = click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where engines are. Default: PENSTOCK_AGENT_ENGINE_FOLDER, else `engines` in PENSTOCK_AGENT_FOLDER, "
    "else `engines` in PENSTOCK_DATA (.penstock), where `penstock up` looks.",
)


@click.group()
def engine() -> None:
    """Engines that run flows."""


@engine.command()
@click.argument("name", type=click.Choice(["camel"]))
@click.option("--mirror", help="Address of a Maven registry. Default: PENSTOCK_AGENT_MAVEN_MIRROR, else Maven's own.")
@_folder
def install(name: str, mirror: str | None, folder: Path | None) -> None:
    """Install an engine on this machine, for the agents that look there.

    An installation that broke off goes on where it was. Every file is checked.
    """
    engines = _engines(folder, os.environ)
    target = CamelInstallation.in_folder(engines)
    if target.is_complete:
        click.echo(f"Camel {VERSION} is installed already, in {target.folder}")
    else:
        _install(engines, mirror or os.environ.get("PENSTOCK_AGENT_MAVEN_MIRROR", ""))
        click.echo(f"Camel {VERSION} is installed in {target.folder}")
    try:
        java = find_java(os.environ)
        click.echo(f"It runs on {java}.")
        if not make_archive(target, java):
            click.echo("This Java keeps no archive of classes: flows take a second longer to start.", err=True)
    except NoJava as error:
        click.echo(f"It cannot run yet: {error}.", err=True)


@engine.command("list")
@_folder
def list_(folder: Path | None) -> None:
    """Show the engines of this machine, and the Java that Camel would run on."""
    engines = _engines(folder, os.environ)
    click.echo(f"penstock {version('penstock')}\tnative, part of every agent")
    found = CamelInstallation.all_in(engines)
    for each in found:
        use = "" if each.version == VERSION else f"\tnot used, this Penstock runs flows on {VERSION}"
        click.echo(f"camel {each.version}\t{each.folder}{use}")
    if not any(each.version == VERSION for each in found):
        click.echo(f"camel {VERSION}\tnot in {engines}; install it with `{INSTALL_COMMAND}`")
    try:
        click.echo(f"java\t{find_java(os.environ)}")
    except NoJava as error:
        click.echo(f"java\t{error}")


def _install(engines: Path, mirror: str) -> None:
    # Here, because it loads a resolver, which takes longer than the other commands as a whole.
    from penstock.flow.camel.installer import install as install_camel

    with click.progressbar(length=1, label=f"Camel {VERSION}", show_eta=False) as bar:

        def progress(done: int, files: int, size: int) -> None:
            bar.length = files
            bar.label = f"Camel {VERSION}, {size / _MIB:.0f} MiB"
            bar.update(done - bar.pos)

        install_camel(engines, mirror, progress)


def _engines(given: Path | None, environment: Mapping[str, str]) -> Path:
    if given is not None:
        return given.expanduser().absolute()
    if named := environment.get("PENSTOCK_AGENT_ENGINE_FOLDER"):
        return Path(named).expanduser().absolute()
    if agent := environment.get("PENSTOCK_AGENT_FOLDER"):
        return Path(agent).expanduser().absolute() / "engines"
    return engine_folder(data_folder(environment))
