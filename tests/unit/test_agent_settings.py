from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from penstock.agent.settings import machine_timezone, read_agent_settings
from penstock.kernel.errors import Invalid


def problems(**environment: str) -> dict[str, str]:
    with pytest.raises(Invalid) as caught:
        read_agent_settings({f"PENSTOCK_AGENT_{name}": value for name, value in environment.items()})
    return {error.field.removeprefix("PENSTOCK_AGENT_"): error.message for error in caught.value.errors}


def test_an_agent_runs_without_any_setting() -> None:
    settings = read_agent_settings({})

    assert settings.name
    assert settings.server == ""
    assert settings.zone


def test_settings_come_from_the_environment() -> None:
    settings = read_agent_settings(
        {
            "PENSTOCK_AGENT_NAME": "north-1",
            "PENSTOCK_AGENT_SERVER": "https://penstock.example.com/",
            "PENSTOCK_AGENT_CAPABILITIES": "Environment=prod,Region=eu",
            "PENSTOCK_AGENT_TIMEZONE": "Europe/Berlin",
            "PENSTOCK_DATA": "a setting of the server",
            "PENSTOCK_AGENT_RUN": "what an agent marks its commands with",
        }
    )

    assert settings.name == "north-1"
    assert settings.server == "https://penstock.example.com"
    assert settings.capabilities == {"Environment": "prod", "Region": "eu"}
    assert settings.zone == ZoneInfo("Europe/Berlin")


def test_unknown_and_bad_settings_are_refused_by_name() -> None:
    assert problems(COLOUR="red", SERVER="penstock.example.com", WITH_PARENT="perhaps") == {
        "COLOUR": "is not a setting",
        "SERVER": "must be an address like https://penstock.example.com",
        "WITH_PARENT": "must be true or false",
    }


def test_values_that_do_not_go_together_are_refused() -> None:
    assert problems(TIMEZONE="Mars/Base", TOKEN="x", TOKEN_FILE="/x", NAME="a b") == {
        "TIMEZONE": "must be a time zone like 'Europe/Berlin' or 'UTC'",
        "TOKEN_FILE": "must not be set beside PENSTOCK_AGENT_TOKEN",
        "NAME": "must be 1 to 128 of A-Z a-z 0-9 . _ - and begin with a letter or digit",
    }


def test_the_token_is_not_shown() -> None:
    assert "hush" not in repr(read_agent_settings({"PENSTOCK_AGENT_TOKEN": "hush"}))


def test_the_time_zone_of_the_machine_is_found(tmp_path: Path) -> None:
    assert machine_timezone({}, tmp_path) == "UTC"

    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/timezone").write_text("Asia/Tokyo\n")
    assert machine_timezone({}, tmp_path) == "Asia/Tokyo"

    (tmp_path / "etc/localtime").symlink_to("/usr/share/zoneinfo/Europe/Berlin")
    assert machine_timezone({}, tmp_path) == "Europe/Berlin"
    assert machine_timezone({"TZ": ":America/New_York"}, tmp_path) == "America/New_York"
    assert machine_timezone({"TZ": "nonsense"}, tmp_path) == "Europe/Berlin"
