"""The command line without a server."""

import asyncio
import socket
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from penstock.bus.credentials import UserCredential
from penstock.cli.main import COMMANDS
from penstock.cli.sources import Sources
from penstock.gateway.access import gateway_named
from penstock.kernel.errors import FieldError
from tests.program import Terminal

HEAVY = {"httpx", "rich", "yaml", "asyncio", "litestar", "nats"}


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    return Terminal(tmp_path, f"http://127.0.0.1:{port}")


async def test_the_version_is_the_distributions(terminal: Terminal) -> None:
    ended = await terminal.run("version")
    assert (ended.code, ended.out) == (0, f"{version('penstock')}\n")


async def test_help_lists_every_command_with_what_it_does(terminal: Terminal) -> None:
    ended = await terminal.run("--help")
    assert ended.code == 0
    for name, entry in COMMANDS.items():
        assert name in ended.out
        assert entry.summary in ended.out


@pytest.mark.parametrize("command", COMMANDS)
async def test_every_command_explains_itself(terminal: Terminal, command: str) -> None:
    ended = await terminal.run(command, "--help")
    assert ended.code == 0
    assert ended.out.startswith(f"Usage: penstock {command}")


@pytest.mark.parametrize(
    "statement",
    [
        "run(['version'])",
        "run(['--help'])",
        "run(['get', '--help'])",
        "import penstock.cli.up",
    ],
)
def test_small_commands_load_nothing_heavy(statement: str) -> None:
    code = f"from penstock.cli.main import run\n{statement}\nimport sys\nprint(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert HEAVY.isdisjoint(loaded)


@pytest.mark.parametrize(
    ("words", "completions"),
    [
        ("penstock co", ["completion"]),
        ("penstock get ag", ["agents"]),
        ("penstock get -o j", ["json"]),
        ("penstock apply --d", ["--dry-run", "--diff"]),
    ],
)
async def test_the_shell_completes_commands_kinds_and_options(
    terminal: Terminal, words: str, completions: list[str]
) -> None:
    count = str(len(words.split()) - 1)
    environment = {"_PENSTOCK_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": count}
    ended = await terminal.run(**environment)
    assert [line.split(",")[1] for line in ended.out.splitlines()] == completions


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
async def test_each_shell_gets_its_completion_script(terminal: Terminal, shell: str) -> None:
    ended = await terminal.run("completion", shell)
    assert ended.code == 0
    assert "_PENSTOCK_COMPLETE" in ended.out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["aply"], "There is no command 'aply'. Did you mean 'apply'?"),
        (["get", "shedules"], "there is no kind 'shedules'; did you mean 'schedules'?"),
        (["get", "xyzzy"], "there is no kind 'xyzzy'; there are agents,"),
        (["apply"], "Missing option '-f'"),
        (["completion", "tcsh"], "'tcsh' is not one of"),
        (["get", "agents", "--url", "nonsense"], "'nonsense' is not the address of a server"),
        (["get", "agents", "--url", "http://[::1"], "is not the address of a server"),
        (["stream", "x", "--url", "ftp://x"], "'ftp://x' is not the address of a server"),
        (["login"], "--password-stdin or PENSTOCK_PASSWORD"),
    ],
)
async def test_wrong_usage_is_explained_with_what_was_meant(
    terminal: Terminal, arguments: list[str], told: str
) -> None:
    ended = await terminal.run(*arguments)
    assert ended.code == 2
    assert told in ended.err


async def test_an_unreachable_server_is_named_with_how_to_start_it(terminal: Terminal) -> None:
    ended = await terminal.run("get", "agents", PENSTOCK_API_KEY="pk_any")
    assert ended.code == 3
    assert "no server answers at http://127.0.0.1:" in ended.err
    assert "penstock up" in ended.err


@pytest.mark.parametrize("arguments", [["get", "agents"], ["get", "variables", "x", "-o", "json"]])
async def test_a_server_that_is_another_program_is_told(terminal: Terminal, arguments: list[str]) -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 15\r\nConnection: close\r\n\r\n<html>Hi</html>")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(greet, "127.0.0.1", 0) as server:
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        ended = await terminal.run(*arguments, PENSTOCK_API_KEY="pk_any", PENSTOCK_URL=address)
    assert ended.code == 1
    assert f"{address} does not answer as a Penstock server does" in ended.err


async def test_the_password_of_standard_input_is_not_taken_for_the_user_name(terminal: Terminal) -> None:
    ended = await terminal.run("login", "--password-stdin", given="secret\n")
    assert ended.code == 3
    assert "no server answers" in ended.err


async def test_who_is_not_signed_in_is_told_how(terminal: Terminal) -> None:
    ended = await terminal.run("get", "agents")
    assert ended.code == 4
    assert "nobody is signed in" in ended.err
    assert "penstock login" in ended.err


async def test_a_file_that_is_not_there_is_named(terminal: Terminal) -> None:
    ended = await terminal.run("apply", "-f", "none.yaml")
    assert ended.code == 1
    assert "none.yaml cannot be read" in ended.err


async def test_the_configuration_for_an_external_nats_holds_no_secret(terminal: Terminal) -> None:
    ended = await terminal.run("nats-config", "--keys", "keys.json", "--store", "/srv/nats", "--name", "n2")
    assert ended.code == 0
    assert '"/srv/nats"' in ended.out
    assert 'server_name: "n2"' in ended.out
    assert "sync_interval: always" in ended.out
    keys = terminal.folder / "keys.json"
    assert keys.stat().st_mode & 0o777 == 0o600
    seeds = [part for part in keys.read_text().split('"') if part.startswith("S") and len(part) > 50]
    assert len(seeds) == 4
    assert not any(seed in ended.out for seed in seeds)
    again = await terminal.run("nats-config", "--keys", "keys.json", "--store", "/srv/nats", "--name", "n2")
    accounts = [line.split(":")[0] for line in ended.out.splitlines() if line.startswith("  A")]
    assert [line.split(":")[0] for line in again.out.splitlines() if line.startswith("  A")] == accounts


def test_problems_are_told_by_file_and_line(tmp_path: Path) -> None:
    first, second = tmp_path / "a.yaml", tmp_path / "b.yml"
    first.write_text("one: 1\ntwo: 2\n")
    second.write_text("three: 3\nfour: 4")
    (tmp_path / "notes.txt").write_text("not configuration")
    sources = Sources([str(tmp_path)])

    lines = sources.text.split("\n")
    for path, line in ((first, "two: 2"), (second, "three: 3"), (second, "four: 4")):
        number = lines.index(line) + 1
        told = sources.place(FieldError("documents[1].spec.x", f"line {number}: is wrong"))
        assert told == f"{path}:{path.read_text().splitlines().index(line) + 1}: spec.x: is wrong"
    assert sources.place(FieldError("", "there is no document")) == "there is no document"


async def test_a_service_gets_credentials_of_the_installation(terminal: Terminal) -> None:
    missing = await terminal.run("nats-credentials", "lamps", "--keys", "keys.json")
    assert (missing.code, missing.out) == (1, "")
    assert "keys.json" in missing.err
    await terminal.run("nats-config", "--keys", "keys.json")
    ended = await terminal.run("nats-credentials", "lamps", "--keys", "keys.json")
    assert ended.code == 0
    assert "-----BEGIN NATS USER JWT-----\n" in ended.out
    assert "-----BEGIN USER NKEY SEED-----\nSU" in ended.out
    assert (await terminal.run("nats-credentials", "a.b", "--keys", "keys.json")).code == 2
    gateway = await terminal.run("nats-credentials", "gateway:edge", "--keys", "keys.json")
    assert gateway_named(UserCredential.of_file_text(gateway.out).jwt) == "edge"
    for wrong in ("gateway:a.b", "gateway:", "gate:edge"):
        assert (await terminal.run("nats-credentials", wrong, "--keys", "keys.json")).code != 0
    assert (await terminal.run("nats-credentials", "*", "--keys", "keys.json")).code != 0
