"""`penstock nats-credentials`."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click

_KEYS = "bus-keys.json"


@click.command()
@click.argument("service")
@click.option("--days", default=365, show_default=True, type=click.IntRange(1, 3650), help="How long they hold.")
@click.option("--keys", type=click.Path(dir_okay=False, path_type=Path), help="The key file.")
def nats_credentials(service: str, days: int, keys: Path | None) -> None:
    """Print the credentials with which the service, or gateway, called SERVICE connects to the bus.

    NATS clients read them from a file. `gateway:NAME` is an API gateway, `engine` the interactive engine. Any other
    service may be asked below `service.<SERVICE>.` and answer, no more; it shows in `penstock get services` once it
    announces itself. The text is a secret, and made of the keys in the key file (PENSTOCK_NATS_KEYS, else
    bus-keys.json in the data folder).
    """
    from penstock.bus.credentials import BusKeys
    from penstock.cli.installation import data_folder
    from penstock.kernel.names import check_name

    path = keys or Path(os.environ.get("PENSTOCK_NATS_KEYS") or data_folder(os.environ) / _KEYS)
    kind, _, name = service.rpartition(":")
    if kind not in ("", "gateway"):
        raise click.UsageError("Name a service, or a gateway like gateway:NAME.")
    if "." in check_name("SERVICE", name):
        raise click.UsageError("The name of a service or gateway has no dots.")
    if not path.exists():
        raise click.ClickException(f"There is no key file {path.absolute()}; it comes with the first start.")
    loaded = BusKeys.load_or_create(path)
    expires = datetime.now(UTC) + timedelta(days=days)
    if kind == "gateway":
        credential = loaded.gateway_user(name, expires)
    else:
        credential = loaded.engine_user(expires) if name == "engine" else loaded.service_user(name, expires)
    click.echo(credential.file_text(), nl=False)
