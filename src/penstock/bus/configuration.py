"""The nats-server configuration that trusts our keys; the embedded server and external ones use the same."""

from pathlib import Path

import msgspec

from penstock.bus.credentials import BusKeys

MAX_PAYLOAD = 8 * 1024 * 1024


def server_configuration(
    keys: BusKeys,
    *,
    host: str,
    port: int,
    store: Path | str,
    server_name: str = "penstock",
    max_file_store: int | None = None,
    pid_file: Path | None = None,
) -> str:
    """Configuration text. A cluster's servers each add their own `server_name` and a `cluster` block.

    max_file_store: bytes that streams may take on disk; None leaves it to the server (three quarters
    of the free space).
    """
    lines = [
        f"server_name: {_quoted(server_name)}",
        f"listen: {_quoted(f'{bracketed(host)}:{port}')}",
        f"max_payload: {MAX_PAYLOAD}",
        "jetstream {",
        f"  store_dir: {_quoted(str(store))}",
        "  # An answer promises durability, so every write reaches the disk before it is acknowledged.",
        "  sync_interval: always",
        *([f"  max_file_store: {max_file_store}"] if max_file_store is not None else []),
        "}",
        f"operator: {keys.operator_jwt}",
        f"system_account: {keys.system_account}",
        "resolver: MEMORY",
        "resolver_preload {",
        *(f"  {account}: {jwt}" for account, jwt in keys.accounts.items()),
        "}",
    ]
    if pid_file is not None:
        lines.append(f"pid_file: {_quoted(str(pid_file))}")
    return "\n".join(lines) + "\n"


def bracketed(host: str) -> str:
    """The host as it stands before a port: an IPv6 address in brackets."""
    return f"[{host}]" if ":" in host else host


def _quoted(text: str) -> str:
    return msgspec.json.encode(text).decode()
