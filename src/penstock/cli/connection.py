"""The server that a command talks to.

The HTTP client is imported only when it is used, so that help and completion of these commands stay quick.
"""

import os
from typing import TYPE_CHECKING

import click

from penstock.kernel.errors import Invalid

if TYPE_CHECKING:
    from penstock.client.client import Client

url_option = click.option(
    "--url", metavar="ADDRESS", help="The server's address. Default: PENSTOCK_URL, else http://127.0.0.1:8400."
)


def connect(url: str | None) -> "Client":
    """A client for the server of --url, else of the environment. Raises click.UsageError."""
    from penstock.client.client import Client
    from penstock.client.target import Target

    try:
        target = Target.of({**os.environ, "PENSTOCK_URL": url} if url else os.environ)
    except Invalid as error:
        raise click.UsageError(error.detail) from None
    return Client.connect(target)
