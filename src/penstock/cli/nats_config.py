"""`penstock nats-config`."""

import os
from pathlib import Path

import click

_KEYS = "bus-keys.json"


@click.command()
@click.option("--keys", type=click.Path(dir_okay=False, path_type=Path), help="The key file; made when it is absent.")
@click.option("--host", default="0.0.0.0", show_default=True, help="Where the NATS server listens.")  # noqa: S104
@click.option("--port", default=4222, show_default=True, type=click.IntRange(1, 65535))
@click.option("--store", default="/var/lib/nats", show_default=True, help="Where it keeps its streams.")
@click.option("--name", default="penstock-1", show_default=True, help="The server's name, unique in a cluster.")
def nats_config(keys: Path | None, host: str, port: int, store: str, name: str) -> None:
    """Print the configuration of a NATS server that Penstock uses with PENSTOCK_NATS_URL.

    The server trusts the keys in the key file (PENSTOCK_NATS_KEYS, else bus-keys.json in the data folder),
    which every replica of the control plane needs and no NATS server. The text holds no secret. In a cluster each
    server has its own --name, and a `cluster` block of your own is added.
    """
    from penstock.bus.configuration import server_configuration
    from penstock.bus.credentials import BusKeys
    from penstock.cli.installation import data_folder

    path = keys or Path(os.environ.get("PENSTOCK_NATS_KEYS") or data_folder(os.environ) / _KEYS)
    loaded = BusKeys.load_or_create(path)
    click.echo(server_configuration(loaded, host=host, port=port, store=store, server_name=name), nl=False)
    click.echo(f"Keys: {path.absolute()}", err=True)
