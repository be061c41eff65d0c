from typing import Annotated, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.kernel.errors import Invalid
from penstock.kernel.settings import read_settings

DEFAULTS = """
# Where the data lives.
data = "penstock-data"
port = 8400
ratio = 0.5
open = false
origins = []
pauses = [1.0]
labels = {}
"""


class Settings(msgspec.Struct):
    data: str
    port: Annotated[int, msgspec.Meta(ge=1, le=65535)]
    ratio: Annotated[float, msgspec.Meta(gt=0)]
    open: bool
    origins: list[str]
    pauses: list[Annotated[float, msgspec.Meta(ge=0)]]
    labels: dict[str, str]
    kind: Literal["json", "console"] = "json"
    address: Annotated[str, msgspec.Meta(pattern="^https?://", description="an address")] = "http://x"
    url: Annotated[str, msgspec.Meta(min_length=1)] | None = None


class Needy(msgspec.Struct):
    token: str


def read(**environment: str) -> Settings:
    return read_settings(Settings, DEFAULTS, environment, "APP_", known_elsewhere={"APP_AGENT_", "APP_HOME"})


def problems(**environment: str) -> dict[str, str]:
    with pytest.raises(Invalid) as caught:
        read(**environment)
    return {error.field: error.message for error in caught.value.errors}


def test_without_environment_the_defaults_hold() -> None:
    assert read() == Settings(
        data="penstock-data", port=8400, ratio=0.5, open=False, origins=[], pauses=[1.0], labels={}
    )


def test_the_environment_wins_over_the_defaults() -> None:
    settings = read(
        APP_DATA="/srv/data",
        APP_PORT=" 80 ",
        APP_RATIO="1e-3",
        APP_OPEN="Yes",
        APP_ORIGINS="a, b,,c",
        APP_PAUSES="0.5, 10",
        APP_LABELS="Environment=prod, Path=a=b",
        APP_URL="nats://host",
        APP_KIND="console",
    )

    assert settings == Settings(
        data="/srv/data",
        port=80,
        ratio=0.001,
        open=True,
        origins=["a", "b", "c"],
        pauses=[0.5, 10.0],
        labels={"Environment": "prod", "Path": "a=b"},
        url="nats://host",
        kind="console",
    )


def test_an_empty_optional_setting_is_none() -> None:
    assert read(APP_URL="").url is None


def test_every_problem_is_told_at_once() -> None:
    assert problems(APP_PORT="many", APP_OPEN="maybe", APP_RATIO="nan", APP_PROT="1", APP_XYZZY="1") == {
        "APP_PORT": "must be a whole number",
        "APP_OPEN": "must be true or false",
        "APP_RATIO": "must be a number",
        "APP_PROT": "is not a setting; did you mean APP_PORT?",
        "APP_XYZZY": "is not a setting",
    }


def test_a_value_out_of_bounds_is_refused_with_the_bounds() -> None:
    assert problems(APP_PORT="0", APP_RATIO="0", APP_KIND="xml", APP_ADDRESS="here", APP_PAUSES="1,-1") == {
        "APP_PORT": "must be at least 1 and at most 65535",
        "APP_RATIO": "must be more than 0",
        "APP_KIND": "must be one of json, console",
        "APP_ADDRESS": "must be an address",
        "APP_PAUSES": "must be at least 0",
    }


@pytest.mark.parametrize("text", ["novalue", "=value", "a=1,b"])
def test_a_broken_list_of_pairs_is_refused(text: str) -> None:
    assert problems(APP_LABELS=text) == {"APP_LABELS": "must be pairs like 'name=value,name=value'"}


def test_a_name_given_twice_is_refused() -> None:
    assert problems(APP_LABELS="a=1,a=2") == {"APP_LABELS": "names 'a' twice"}


def test_names_of_other_programs_are_left_alone() -> None:
    assert read(APP_AGENT_NAME="x", APP_HOME="/", PATH="/bin", APPLE="1") == read()


def test_a_name_that_only_resembles_another_programs_is_refused() -> None:
    assert set(problems(APP_HOMES="/")) == {"APP_HOMES"}


def test_a_setting_without_default_must_be_set() -> None:
    with pytest.raises(Invalid, match="APP_TOKEN: must be set"):
        read_settings(Needy, "", {}, "APP_")

    assert read_settings(Needy, "", {"APP_TOKEN": "x"}, "APP_") == Needy("x")


def test_defaults_that_do_not_fit_are_a_programming_error() -> None:
    with pytest.raises(ValueError, match="defaults for no setting: colour"):
        read_settings(Needy, "colour = 1", {}, "APP_")
    with pytest.raises(ValueError, match="does not fit"):
        read_settings(Needy, "token = 1", {}, "APP_")


@given(value=st.text(min_size=3, alphabet="secrt!"))
def test_a_problem_never_repeats_the_value(value: str) -> None:
    assert all(value not in message for message in problems(APP_PORT=value, APP_OPEN=value).values())
