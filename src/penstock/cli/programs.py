"""Commands that become another program of the platform."""

from importlib import import_module

import click


@click.command()
def serve() -> int:
    """Run the control plane alone: HTTP API, store and, unless PENSTOCK_NATS_URL is set, the bus.

    Settings are environment variables named PENSTOCK_*; the server's defaults.toml explains each.
    """
    # By name, because the command line must not depend on the server's code.
    return int(import_module("penstock.server.main").main())


@click.command()
def agent() -> int:
    """Run an agent alone. Settings are environment variables named PENSTOCK_AGENT_*."""
    return int(import_module("penstock.agent.main").main() or 0)
