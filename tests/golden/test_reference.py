"""The pages of docs/reference say what the code says."""

from importlib.resources import files
from pathlib import Path

from docs.generate import api_reference, cli_reference, kinds_reference, settings_reference

from penstock.agent.settings import DEFAULTS
from penstock.cli.main import cli
from tests.application import Application
from tests.golden.kept import assert_kept

FOLDER = Path(__file__).parents[2] / "docs" / "reference"


async def test_the_api_page_is_current(application: Application) -> None:
    document = (await application.anonymous.get("/openapi.json")).json()
    assert_kept(FOLDER / "api.md", api_reference(document))


async def test_the_page_of_configuration_kinds_is_current(application: Application) -> None:
    kinds = (await application.reader.get("/configuration/kinds")).json()
    schemas = {kind["Kind"]: kind["Schema"] for kind in kinds}
    assert_kept(FOLDER / "configuration-kinds.md", kinds_reference(schemas))


def test_the_settings_page_is_current() -> None:
    server = (files("penstock.server") / "defaults.toml").read_text()
    engine = (files("penstock.engine") / "defaults.toml").read_text()
    gateway = (files("penstock.gateway") / "defaults.toml").read_text()
    assert_kept(FOLDER / "settings.md", settings_reference(server, DEFAULTS, engine, gateway))


def test_the_command_line_page_is_current() -> None:
    assert_kept(FOLDER / "command-line.md", cli_reference(cli))
