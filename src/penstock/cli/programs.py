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
def notebooks() -> int:
    """Run a worker of the interactive engine alone, for servers with PENSTOCK_ENGINE=external.

    Settings are environment variables named PENSTOCK_ENGINE_*; the engine's defaults.toml explains each.
    PENSTOCK_ENGINE_NATS_URL and PENSTOCK_ENGINE_CREDENTIALS, a file with what `penstock nats-credentials engine`
    prints, must be set.
    """
    return int(import_module("penstock.engine.program").main())


@click.command()
def apihost() -> int:
    """Host APIs of packages in one process alone, told over HTTP what to host; nothing is kept over a restart.

    Settings are environment variables named PENSTOCK_APIHOST_*.
    """
    return int(import_module("penstock.server.apihost.main").main())


@click.command()
def gateway() -> int:
    """Run an API gateway alone: Envoy, told by the servers what to serve.

    Settings are environment variables named PENSTOCK_GATEWAY_*; the gateway's defaults.toml explains each.
    PENSTOCK_GATEWAY_NATS_URL and PENSTOCK_GATEWAY_CREDENTIALS, a file with what `penstock nats-credentials
    gateway:NAME` prints, must be set.
    """
    return int(import_module("penstock.gateway.program").main())


@click.command()
def agent() -> int:
    """Run an agent alone. Settings are environment variables named PENSTOCK_AGENT_*."""
    return int(import_module("penstock.agent.main").main() or 0)
