"""The command line against the real application."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
import yaml

from penstock.bus.bus import Bus
from penstock.bus.streams import Streams, StreamSpec
from penstock.cli.listings.catalog import LISTINGS
from tests.application import ADMIN_PASSWORD, Application
from tests.program import Terminal

pytest_plugins = ("tests.terminals",)


def variable(name: str, value: str = "blue", state: str = "present") -> str:
    return (
        "apiVersion: penstock/v1alpha1\nkind: Variable\n"
        f"metadata:\n  name: {name}\n  state: {state}\nspec:\n  value: {value}\n"
    )


# Signing in


async def test_who_signs_in_stays_signed_in(admin: Terminal) -> None:
    assert admin.sessions.stat().st_mode & 0o777 == 0o600
    assert admin.sessions.parent.stat().st_mode & 0o777 == 0o700
    assert (await admin.run("get", "users")).code == 0


async def test_a_wrong_password_is_refused_and_nothing_is_kept(stranger: Terminal) -> None:
    ended = await stranger.run("login", "--username", "nobody", "--password-stdin", given="wrong")
    assert ended.code == 4
    assert not stranger.sessions.exists()


async def test_the_password_never_shows(stranger: Terminal) -> None:
    ended = await stranger.run("login", "--username", "admin", PENSTOCK_PASSWORD=ADMIN_PASSWORD)
    assert ended.code == 0
    assert ADMIN_PASSWORD not in ended.out + ended.err + stranger.sessions.read_text()


async def test_user_name_and_password_of_the_environment_suffice(stranger: Terminal) -> None:
    ended = await stranger.run("get", "users", PENSTOCK_USERNAME="admin", PENSTOCK_PASSWORD=ADMIN_PASSWORD)
    assert ended.code == 0
    assert not stranger.sessions.exists()


async def test_an_api_key_of_the_environment_suffices(application: Application, stranger: Terminal, name: str) -> None:
    query = {"username": "reader@example.com", "name": name}
    key = (await application.admin.post("/identity/apikey", params=query)).json()
    assert (await stranger.run("get", "schedules", PENSTOCK_API_KEY=key)).code == 0
    refused = await stranger.run("apply", "-f", "-", given=variable(name), PENSTOCK_API_KEY=key)
    assert refused.code == 4
    assert "needs the role Admin" in refused.err
    assert (await stranger.run("get", "agents", PENSTOCK_API_KEY="pk_made_up")).code == 4


def spoil(terminal: Terminal, *fields: str) -> dict[str, str]:
    """Puts nonsense into fields of the stored session, as if they had ended; gives what was there."""
    stored = json.loads(terminal.sessions.read_text())
    [session] = stored.values()
    before = dict(session)
    session.update(dict.fromkeys(fields, "ended"))
    terminal.sessions.write_text(json.dumps(stored))
    return before


def session_of(terminal: Terminal) -> dict[str, str]:
    [session] = json.loads(terminal.sessions.read_text()).values()
    return dict(session)


async def test_an_ended_token_is_renewed(admin: Terminal) -> None:
    before = spoil(admin, "token")
    assert (await admin.run("get", "users")).code == 0
    renewed = session_of(admin)
    assert renewed["token"] not in ("ended", before["token"])
    assert renewed["refresh_token"] != before["refresh_token"]
    assert admin.sessions.stat().st_mode & 0o777 == 0o600


async def test_processes_that_renew_at_once_take_turns(admin: Terminal) -> None:
    spoil(admin, "token")
    ended = await asyncio.gather(*(admin.run("get", "users") for _ in range(4)))
    assert [each.code for each in ended] == [0, 0, 0, 0]
    assert (await admin.run("get", "users")).code == 0


async def test_an_ended_session_is_forgotten(admin: Terminal) -> None:
    spoil(admin, "token", "refresh_token")
    ended = await admin.run("get", "users")
    assert ended.code == 4
    assert "the session of admin" in ended.err
    assert "penstock login" in ended.err
    assert json.loads(admin.sessions.read_text()) == {}


# Applying


async def test_a_document_is_applied_from_standard_input(admin: Terminal, name: str) -> None:
    created = await admin.run("apply", "-f", "-", given=variable(name))
    assert (created.code, created.out) == (0, f"Variable/{name} created\n")
    assert (await admin.run("apply", "-f", "-", given=variable(name))).out == f"Variable/{name} unchanged\n"
    assert (await admin.run("apply", "-f", "-", given=variable(name, "red"))).out == f"Variable/{name} changed\n"
    removed = await admin.run("apply", "-f", "-", given=variable(name, state="absent"))
    assert removed.out == f"Variable/{name} removed\n"
    assert (await admin.run("get", "variables", name)).code == 1


async def test_files_and_folders_are_applied_together(admin: Terminal, name: str) -> None:
    folder = admin.folder / "documents"
    folder.mkdir()
    (folder / "b.yml").write_text(variable(f"{name}-b"))
    (folder / "a.yaml").write_text("---\n" + variable(f"{name}-a"))
    (folder / "readme.md").write_text("not a document")
    (admin.folder / "c.json").write_text(
        json.dumps(
            {
                "apiVersion": "penstock/v1alpha1",
                "kind": "Variable",
                "metadata": {"name": f"{name}-c"},
                "spec": {"value": "x"},
            }
        )
    )
    ended = await admin.run("apply", "-f", "documents", "-f", "c.json")
    assert ended.code == 0, ended.err
    assert ended.out.splitlines() == [f"Variable/{name}-{letter} created" for letter in "abc"]


async def test_a_dry_run_tells_and_changes_nothing(admin: Terminal, name: str) -> None:
    ended = await admin.run("apply", "-f", "-", "--dry-run", given=variable(name))
    assert (ended.code, ended.out) == (0, f"Variable/{name} would be created\n")
    assert (await admin.run("get", "variables", name)).code == 1


async def test_a_difference_shows_what_goes_and_what_comes(admin: Terminal, name: str) -> None:
    await admin.run("apply", "-f", "-", given=variable(name))
    ended = await admin.run("apply", "-f", "-", "--dry-run", "--diff", given=variable(name, "red"))
    assert "-value: blue" in ended.out
    assert "+value: red" in ended.out


async def test_every_problem_is_told_by_file_and_line_and_nothing_is_changed(admin: Terminal, name: str) -> None:
    (admin.folder / "good.yaml").write_text(variable(name))
    (admin.folder / "bad.yaml").write_text(variable("not_bad") + "  colour: red\n---\nkind: 5\n")
    ended = await admin.run("apply", "-f", "good.yaml", "-f", "bad.yaml")
    assert ended.code == 1
    assert "nothing was changed" in ended.err
    assert "bad.yaml:8: spec.colour: is not a known field" in ended.err
    assert "bad.yaml:10: kind: must be a string, not a whole number" in ended.err
    assert (await admin.run("get", "variables", name)).code == 1


# Showing


async def test_things_are_shown_as_table_json_and_yaml(admin: Terminal, name: str) -> None:
    await admin.run("apply", "-f", "-", given=variable(name))
    table = (await admin.run("get", "variables")).out
    header, *rows = table.splitlines()
    assert header.split() == ["NAME", "VALUE", "SECRET", "DESCRIPTION"]
    assert [name, "blue", "false"] in [row.split() for row in rows]
    listed = json.loads((await admin.run("get", "variable", "-o", "json")).out)
    assert name in [row["Name"] for row in listed]
    one = yaml.safe_load((await admin.run("get", "variables", name.upper(), "-o", "yaml")).out)
    assert (one["Name"], one["Value"]) == (name, "blue")


async def test_wide_rows_stay_on_one_line_in_a_pipe(admin: Terminal, name: str) -> None:
    await admin.run("apply", "-f", "-", given=variable(name, "x" * 300))
    table = (await admin.run("get", "variables", name)).out
    assert len(table.splitlines()) == 2


async def test_an_unknown_name_suggests_a_near_one(admin: Terminal) -> None:
    ended = await admin.run("get", "users", "admni")
    assert ended.code == 1
    assert "there is no 'admni' among the users; did you mean 'admin'?" in ended.err


@pytest.mark.parametrize("kind", [each.name for each in LISTINGS if each.of is None])
async def test_every_kind_is_listed_by_the_server(admin: Terminal, kind: str) -> None:
    ended = await admin.run("get", kind, "-o", "json")
    assert ended.code == 0, ended.err
    assert isinstance(json.loads(ended.out), list)
    assert (await admin.run("get", kind)).code == 0


@pytest.mark.parametrize("kind", ["runs", "ticks"])
async def test_what_a_schedule_did_is_listed_by_its_name(admin: Terminal, name: str, kind: str) -> None:
    document = (
        "apiVersion: penstock/v1alpha1\nkind: Schedule\n"
        f"metadata:\n  name: {name}\nspec:\n  cron: 0 0 0 1 1 ?\n  command: date\n"
    )
    assert (await admin.run("apply", "-f", "-", given=document)).code == 0
    ended = await admin.run("get", kind, name, "-o", "json")
    assert (ended.code, ended.out) == (0, "[]\n")
    unnamed = await admin.run("get", kind)
    assert unnamed.code == 2
    assert f"penstock get {kind} NAME" in unnamed.err


async def test_watching_shows_a_change(admin: Terminal, name: str) -> None:
    await admin.run("apply", "-f", "-", given=variable(name, "before"))
    async with admin.running("get", "variables", name, "--watch") as output:
        await output.readuntil(b"before")
        await admin.run("apply", "-f", "-", given=variable(name, "after"))
        await output.readuntil(b"after")


# Streams


@pytest.fixture
async def stream(application: Application, name: str) -> AsyncIterator[str]:
    bus = application.platform.container.get(Bus)
    await Streams(bus).ensure(StreamSpec(name=f"schedule-{name}", subjects=[f"test.{name}"]))
    yield f"schedule-{name}"
    await Streams(bus).delete(f"schedule-{name}")


async def publish(application: Application, stream: str, *texts: bytes) -> None:
    bus = application.platform.container.get(Bus)
    for text in texts:
        await bus.publish(f"test.{stream.removeprefix('schedule-')}", text)


async def test_the_newest_messages_of_a_stream_are_shown_oldest_first(
    application: Application, admin: Terminal, stream: str
) -> None:
    await publish(application, stream, b"one", b"two", b"\xff\x00")
    lines = (await admin.run("stream", stream, "-n", "2")).out.splitlines()
    assert [line.split()[0] for line in lines] == ["2", "3"]
    assert lines[0].endswith(" two")
    assert lines[1].endswith(" 2 bytes: ff 00")


async def test_messages_are_shown_as_json_for_programs(application: Application, admin: Terminal, stream: str) -> None:
    await publish(application, stream, b'{"Colour": "red"}', b"text")
    lines = (await admin.run("stream", stream, "-o", "json")).out.splitlines()
    messages = [json.loads(line) for line in lines]
    assert [message["Data"] for message in messages] == [{"Colour": "red"}, "text"]
    assert [message["Sequence"] for message in messages] == [1, 2]


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ({"Event": "RunStarted", "Command": "date"}, "started date"),
        ({"Event": "RunFinished", "ExitCode": 0, "Output": "hello\n"}, "finished: exit code 0: hello"),
        ({"Event": "RunFinished", "ExitCode": 3, "Output": ""}, "finished: exit code 3"),
        ({"Event": "RunFinished", "Error": "no such command", "Output": ""}, "finished: no such command"),
        ({"Event": "TicksMissed", "Count": 2, "Reason": "agent away"}, "missed 2 due times: agent away"),
    ],
)
async def test_what_schedules_tell_is_put_in_words(
    application: Application, admin: Terminal, stream: str, told: dict[str, object], shown: str
) -> None:
    await publish(application, stream, json.dumps(told).encode())
    [line] = (await admin.run("stream", stream)).out.splitlines()
    assert line.endswith(f" {shown}")


async def test_a_stream_is_followed(application: Application, admin: Terminal, stream: str) -> None:
    await publish(application, stream, b"one")
    async with admin.running("stream", stream, "--follow") as output:
        await output.readuntil(b" one\n")
        await publish(application, stream, b"two")
        await output.readuntil(b" two\n")


async def test_an_unknown_stream_is_told(admin: Terminal) -> None:
    ended = await admin.run("stream", "schedule-none")
    assert ended.code == 1
    assert "stream 'schedule-none' does not exist" in ended.err


async def test_logs_of_an_unknown_flow_are_told(admin: Terminal) -> None:
    ended = await admin.run("logs", "schedule-none")
    assert ended.code == 1
    assert "schedule-none" in ended.err
