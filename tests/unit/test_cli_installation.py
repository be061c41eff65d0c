"""What `penstock up` prepares before it starts anything."""

import socket
from pathlib import Path

import click
import pytest

from penstock.cli.first_start import FirstStart
from penstock.cli.folder_lock import folder_lock
from penstock.cli.installation import Installation, data_folder, user_environment
from penstock.cli.log_file import KEPT, LogFile

SECRETS = {
    "PENSTOCK_SECRET_KEY": "key",
    "PENSTOCK_DATABASE_URL": "postgresql://u:pw@h/d",
    "PENSTOCK_ADMIN_PASSWORD": "pw",
}


def installation(folder: Path, **environment: str) -> Installation:
    return Installation.of({"PENSTOCK_DATA": str(folder), "PENSTOCK_PORT": "8400", **environment})


# Where things are


def test_without_settings_everything_is_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert data_folder({}) == tmp_path / ".penstock"
    assert Installation.of({}).address == "http://127.0.0.1:8400"


def test_settings_say_where_things_are(tmp_path: Path) -> None:
    made = installation(tmp_path, PENSTOCK_HOST="::1", PENSTOCK_PORT="9000")
    assert (made.folder, made.address) == (tmp_path, "http://[::1]:9000")


def test_an_address_for_everybody_is_reached_on_this_machine(tmp_path: Path) -> None:
    assert installation(tmp_path, PENSTOCK_HOST="0.0.0.0").address == "http://127.0.0.1:8400"


def test_port_0_takes_a_free_one(tmp_path: Path) -> None:
    made = installation(tmp_path, PENSTOCK_PORT="0")
    assert made.port > 0
    made.check_port()


@pytest.mark.parametrize("port", ["many", "-1", "65536", "80.5"])
def test_a_port_that_is_none_is_refused_by_name(tmp_path: Path, port: str) -> None:
    with pytest.raises(click.UsageError, match="PENSTOCK_PORT"):
        installation(tmp_path, PENSTOCK_PORT=port)


def test_a_taken_port_is_told_with_the_setting_that_changes_it(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        made = installation(tmp_path, PENSTOCK_PORT=str(taken.getsockname()[1]))
        with pytest.raises(click.ClickException, match="PENSTOCK_PORT"):
            made.check_port()


def test_a_host_that_is_not_this_machine_is_no_matter_of_the_port(tmp_path: Path) -> None:
    with pytest.raises(click.ClickException, match=r"192\.0\.2\.1:8400 cannot be used") as raised:
        installation(tmp_path, PENSTOCK_HOST="192.0.2.1").check_port()
    assert "PENSTOCK_PORT" not in raised.value.message


# What processes are told


def test_the_agent_learns_nothing_of_the_server(tmp_path: Path) -> None:
    given = {"PATH": "/bin", "PENSTOCK_PORT": "1", "PENSTOCK_AGENT_NAME": "here", **SECRETS}
    told = installation(tmp_path).agent_environment(given)
    assert {name for name in told if name.startswith("PENSTOCK_")} == {
        "PENSTOCK_AGENT_NAME",
        "PENSTOCK_AGENT_FOLDER",
        "PENSTOCK_AGENT_SERVER",
        "PENSTOCK_AGENT_TOKEN_FILE",
        "PENSTOCK_AGENT_LOG_FORMAT",
        "PENSTOCK_AGENT_ALLOW_PRIVATE_ADDRESSES",
        "PENSTOCK_AGENT_ENGINE_FOLDER",
    }
    assert told["PATH"] == "/bin"
    assert not set(SECRETS.values()) & set(told.values())


def test_the_server_learns_its_own_settings_alone(tmp_path: Path) -> None:
    given = {**SECRETS, "PENSTOCK_AGENT_NAME": "here", "PENSTOCK_API_KEY": "pk_mine"}
    told = installation(tmp_path).server_environment(given, tmp_path / "first-password")
    assert SECRETS.items() <= told.items()
    assert told["PENSTOCK_FIRST_PASSWORD_FILE"] == str(tmp_path / "first-password")
    assert not {"PENSTOCK_AGENT_NAME", "PENSTOCK_API_KEY"} & told.keys()


def test_an_agent_that_is_known_gets_no_token(tmp_path: Path) -> None:
    made = installation(tmp_path)
    kept = tmp_path / "first-password"
    assert made.server_environment({}, kept)["PENSTOCK_LOCAL_AGENT_TOKEN_FILE"] == str(made.token_file)
    assert made.agent_environment({})["PENSTOCK_AGENT_TOKEN_FILE"] == str(made.token_file)
    made.agent_folder.mkdir()
    (made.agent_folder / "identity.json").write_text("{}")
    assert "PENSTOCK_LOCAL_AGENT_TOKEN_FILE" not in made.server_environment({}, kept)
    assert "PENSTOCK_AGENT_TOKEN_FILE" not in made.agent_environment({})


PRIVATE = ("PENSTOCK_ALLOW_PRIVATE_ADDRESSES", "PENSTOCK_AGENT_ALLOW_PRIVATE_ADDRESSES")


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_private_addresses_are_allowed_while_only_this_machine_reaches_the_server(tmp_path: Path, host: str) -> None:
    made = installation(tmp_path, PENSTOCK_HOST=host)
    assert made.server_environment({}, None)[PRIVATE[0]] == "true"
    assert made.agent_environment({})[PRIVATE[1]] == "true"
    forbidden = dict.fromkeys(PRIVATE, "false")
    assert made.server_environment(forbidden, None)[PRIVATE[0]] == "false"
    assert made.agent_environment(forbidden)[PRIVATE[1]] == "false"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.4", "127.example.com"])
def test_private_addresses_are_not_allowed_when_others_reach_the_server(tmp_path: Path, host: str) -> None:
    made = installation(tmp_path, PENSTOCK_HOST=host)
    assert PRIVATE[0] not in made.server_environment({}, None)
    assert PRIVATE[1] not in made.agent_environment({})


def test_a_user_is_known_by_the_environment_alone() -> None:
    given = {"PATH": "/bin", "PENSTOCK_API_KEY": "other", "PENSTOCK_ADMIN_PASSWORD": "pw"}
    told = user_environment("http://a:1", given)
    assert told == {
        "PATH": "/bin",
        "PENSTOCK_URL": "http://a:1",
        "PENSTOCK_USERNAME": "admin",
        "PENSTOCK_PASSWORD": "pw",
    }


# The first start


def test_a_first_start_is_pending_until_it_is_done(tmp_path: Path) -> None:
    first = FirstStart(tmp_path)
    first.password_file.write_text("generated")
    assert FirstStart(tmp_path).pending
    first.finish()
    assert not FirstStart(tmp_path).pending
    assert not first.password_file.exists()


def test_a_password_that_waits_to_be_shown_makes_it_a_first_start_again(tmp_path: Path) -> None:
    FirstStart(tmp_path).finish()
    FirstStart(tmp_path).password_file.write_text("of a database made anew")
    assert FirstStart(tmp_path).pending


def test_a_data_folder_serves_one_at_a_time(tmp_path: Path) -> None:
    with (
        folder_lock(tmp_path, "http://127.0.0.1:1"),
        pytest.raises(click.ClickException, match=r"at http://127\.0\.0\.1:1 runs on the data folder"),
        folder_lock(tmp_path, "http://127.0.0.1:2"),
    ):
        pass
    with folder_lock(tmp_path, "http://127.0.0.1:3"):
        assert "http://127.0.0.1:3" in (tmp_path / "up.lock").read_text()


def test_a_data_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(click.ClickException, match="cannot be used"), folder_lock(tmp_path / "file" / "data", ""):
        pass


def test_a_data_folder_that_others_could_change_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(click.ClickException, match="written by everybody"), folder_lock(tmp_path, ""):
        pass


# Logs of processes


def test_a_log_is_bounded_and_keeps_its_newest_part(tmp_path: Path) -> None:
    log = LogFile(tmp_path / "logs" / "server.log", largest=100)
    for number in range(100):
        log.write(f"line {number:3}\n".encode())
    log.close()
    files = sorted(path.name for path in log.path.parent.iterdir())
    assert files == ["server.log", *(f"server.log.{number}" for number in range(1, KEPT + 1))]
    assert all(path.stat().st_size <= 100 for path in log.path.parent.iterdir())
    kept = "".join((log.path.parent / name).read_text() for name in [*reversed(files[1:]), files[0]])
    assert kept.splitlines() == [f"line {number:3}" for number in range(100 - len(kept.splitlines()), 100)]


def test_a_log_is_for_its_owner_only_and_outlives_a_full_disk(tmp_path: Path) -> None:
    log = LogFile(tmp_path / "server.log", largest=10)
    assert log.path.stat().st_mode & 0o777 == 0o600
    log.close()
    log.path.unlink()
    log.path.symlink_to("/dev/full")
    log = LogFile(log.path)
    log.write(b"why it ended\n")
    assert log.last_lines() == ["why it ended"]
    log.begin()
    assert log.last_lines() == []
    log.close()


def test_a_log_goes_on_after_a_restart_and_tells_the_last_lines_of_this_one(tmp_path: Path) -> None:
    before = LogFile(tmp_path / "server.log")
    before.write(b"before\n")
    before.close()
    log = LogFile(tmp_path / "server.log")
    log.write(b"one\ntw")
    log.write(b"o\nand an end without a line break")
    assert log.last_lines() == ["one", "two", "and an end without a line break"]
    assert log.path.read_text().startswith("before\none\ntwo\n")
    log.close()
