import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import jsonschema
import pytest
from msgspec import Meta

from penstock.connectors.component import ComponentKind
from penstock.connectors.endpoint import EndpointKind
from penstock.connectors.endpoints.http import HttpEndpoint
from penstock.connectors.kind import Part, Secret
from penstock.connectors.registry import Family, Registered, Registry, registry
from penstock.connectors.resolution import Secrets, resolved
from penstock.connectors.secret_fields import MASK, with_secrets, without_secrets
from penstock.egress.address_guard import AddressGuard
from penstock.kernel.errors import Fault, Invalid
from penstock.kernel.wire import encode

SECRET = "whsec_" + "c2VjcmV0" * 5
ANYWHERE = AddressGuard(allow_private=True)


class Inner(Part, frozen=True):
    token: Secret | None = None
    tokens: list[Secret] = []


class Sample(EndpointKind, frozen=True):
    """A kind for tests.

    Not part of its description.
    """

    identifier = "sample"
    version = "1.2.0"

    name: str
    size: Annotated[int, Meta(ge=1, description="How large.")] = 1
    inner: Inner = Inner()
    by_name: dict[str, Secret] = {}


def known(*kinds: type) -> Registry:
    return Registry([Registered(kind, "test", "1.0") for kind in kinds])


async def errors(type_: str, version: str, configuration: str, guard: AddressGuard | None = None) -> dict[str, str]:
    with pytest.raises(Invalid) as caught:
        await known(Sample, HttpEndpoint).check(Family.ENDPOINT, type_, version, configuration, guard)
    return {error.field: error.message for error in caught.value.errors}


# Kinds and their schemas


def test_the_built_in_kinds_are_those_of_the_folders() -> None:
    components = {each.kind.identifier for each in registry().all(Family.COMPONENT) if each.package == "penstock"}
    endpoints = {each.kind.identifier for each in registry().all(Family.ENDPOINT) if each.package == "penstock"}
    assert components == {"filter", "transform", "enrich"}
    assert endpoints == {"amqp", "http", "nats", "stream", "mailbox", "entitystore", "log"}


@pytest.mark.parametrize("family", [Family.COMPONENT, Family.ENDPOINT])
def test_every_kind_describes_itself_and_each_field(family: Family) -> None:
    for each in registry().all(family):
        schema = each.kind.schema()
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["description"]
        undescribed = [name for name, field in schema["properties"].items() if "description" not in field]
        assert undescribed == [], each.kind.identifier


def test_a_schema_accepts_what_the_kind_accepts() -> None:
    validator = jsonschema.Draft202012Validator(Sample.schema())
    assert validator.is_valid({"name": "a", "size": 2, "inner": {"tokens": ["x"]}, "byName": {"k": "v"}})
    assert not validator.is_valid({"size": 2})
    assert not validator.is_valid({"name": "a", "size": 0})
    assert Sample.schema()["description"] == "A kind for tests."


@pytest.mark.parametrize(
    ("version", "taken"),
    [
        ("", True),
        ("1", True),
        ("1.2", True),
        ("1.2.0", True),
        ("1.2.0.0", True),
        ("1.0", True),
        ("1.3", False),
        ("2", False),
    ],
)
def test_a_version_is_met_by_its_leading_parts(version: str, taken: bool) -> None:
    assert Sample.takes(version) is taken


def test_two_kinds_of_one_identifier_cannot_be_registered() -> None:
    with pytest.raises(TypeError, match="empty or taken"):
        known(Sample, Sample)


# Checking


async def test_an_unknown_type_is_refused_with_the_known_ones() -> None:
    assert await errors("smoke", "1", "{}") == {"Type": "must be one of http, sample"}


async def test_another_version_is_refused_with_the_present_one() -> None:
    assert await errors("sample", "7", "{}") == {"Version": "must be 1.2.0 for the type sample"}


@pytest.mark.parametrize("text", ["[]", "{", "1", '"text"'])
async def test_a_configuration_that_is_no_object_is_refused(text: str) -> None:
    assert await errors("sample", "", text) == {"Configuration": "must be a JSON object"}


async def test_every_bad_field_of_a_configuration_is_named() -> None:
    found = await errors("sample", "", '{"size": 0, "colour": 1, "inner": {"tokens": [1]}}')
    assert set(found) == {
        "Configuration.name",
        "Configuration.size",
        "Configuration.colour",
        "Configuration.inner.tokens[0]",
    }


async def test_types_are_compared_without_case() -> None:
    assert await known(Sample).check(Family.ENDPOINT, "SAMPLE", "", '{"name": "a"}') is Sample


async def test_private_addresses_are_refused_with_the_field_that_names_them() -> None:
    url = '{"url": "http://127.0.0.1/x"}'
    assert list(await errors("http", "1", url, AddressGuard(allow_private=False))) == ["Configuration.url"]
    await known(HttpEndpoint).check(Family.ENDPOINT, "http", "1", url, ANYWHERE)


async def test_what_depends_on_a_variable_is_checked_later() -> None:
    guarded = AddressGuard(allow_private=False)
    await known(HttpEndpoint).check(Family.ENDPOINT, "http", "1", '{"url": "{{var:SINK}}"}', guarded)
    await known(HttpEndpoint).check(Family.ENDPOINT, "http", "1", '{"url": "http://{{var:HOST}}/x"}', guarded)


async def test_a_number_cannot_be_given_by_a_variable() -> None:
    assert list(await errors("sample", "1", '{"name": "a", "size": "{{var:SIZE}}"}')) == ["Configuration.size"]


# Secrets and variables


def test_secrets_are_taken_out_and_put_back_wherever_they_are() -> None:
    whole = {
        "name": "a",
        "inner": {"token": "one", "tokens": ["two", "{{var:THREE}}"]},
        "byName": {"X-Key": "four"},
    }
    public, secrets = without_secrets(Sample.schema(), whole)
    assert public == {
        "name": "a",
        "inner": {"token": MASK, "tokens": [MASK, "{{var:THREE}}"]},
        "byName": {"X-Key": MASK},
    }
    assert secrets == {"inner.token": "one", "inner.tokens[0]": "two", "byName.X-Key": "four"}
    assert with_secrets(Sample.schema(), public, secrets) == whole


def test_a_secret_around_a_reference_is_still_a_secret() -> None:
    public, secrets = without_secrets(Sample.schema(), {"name": "a", "inner": {"token": "pre{{var:X}}"}})
    assert public["inner"]["token"] == MASK
    assert secrets == {"inner.token": "pre{{var:X}}"}


def test_variables_are_replaced_and_secrets_known_from_then_on() -> None:
    secrets = Secrets()
    use = resolved(
        HttpEndpoint,
        {"url": "https://{{var:HOST}}/{{var:TOKEN}}", "username": "me", "password": "{{ var:PASSWORD }}"},
        {"HOST": ("example.com", False), "TOKEN": ("token-1234", True), "PASSWORD": ("open sesame", False)},
        secrets,
    )
    assert isinstance(use, HttpEndpoint)
    assert (use.url, use.password) == ("https://example.com/token-1234", "open sesame")
    assert secrets.hidden("https://example.com/token-1234 open sesame") == f"https://example.com/{MASK} {MASK}"


def test_an_unknown_variable_is_named_with_its_field() -> None:
    with pytest.raises(Invalid, match=r"Configuration\.url: the variable 'HOST' does not exist"):
        resolved(HttpEndpoint, {"url": "http://{{var:HOST}}"}, {}, Secrets())


def test_a_secret_variable_is_refused_where_others_could_read_it() -> None:
    with pytest.raises(Invalid, match=r"Configuration\.name: the variable 'KEY' is a secret"):
        resolved(Sample, {"name": "{{var:KEY}}"}, {"KEY": ("hidden", True)}, Secrets())


def test_values_of_variables_are_checked_as_if_written_there() -> None:
    with pytest.raises(Invalid, match=r"Configuration\.url: must be an address"):
        resolved(HttpEndpoint, {"url": "{{var:URL}}"}, {"URL": ("gopher://x", False)}, Secrets())


# Packages


@pytest.fixture
def package(tmp_path: Path) -> Iterator[Path]:
    """An installed package that brings a kind, and one that is broken."""
    (tmp_path / "siren_kinds.py").write_text(
        "from penstock.connectors.component import ComponentKind\n"
        "class Siren(ComponentKind, frozen=True):\n"
        '    """Howls."""\n'
        '    identifier = "siren"\n'
    )
    metadata = tmp_path / "siren-2.5.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: siren\nVersion: 2.5\n")
    (metadata / "entry_points.txt").write_text(
        "[penstock.connectors]\nsiren = siren_kinds:Siren\nbroken = no_such_module:Kind\nwrong = os:path\n"
    )
    sys.path.insert(0, str(tmp_path))
    importlib.invalidate_caches()
    registry.cache_clear()
    yield tmp_path
    sys.path.remove(str(tmp_path))
    registry.cache_clear()


def test_kinds_of_installed_packages_join_the_list_and_broken_ones_stay_out(package: Path) -> None:
    found = {each.kind.identifier: each for each in registry().all(Family.COMPONENT)}
    assert issubclass(found["siren"].kind, ComponentKind)
    assert (found["siren"].package, found["siren"].package_version) == ("siren", "2.5")
    assert "filter" in found


def test_a_default_configuration_is_shown_as_its_schema_says() -> None:
    defaults: dict[str, Any] = {
        name: field["default"] for name, field in HttpEndpoint.schema()["properties"].items() if "default" in field
    }
    use = HttpEndpoint(url="http://a/")
    assert encode(defaults["timeoutSeconds"]) == encode(use.timeout_seconds)
    assert defaults["mode"] == use.mode


async def test_an_unknown_field_does_not_hide_what_is_wrong_with_the_others() -> None:
    configuration = '{"url": "ftp://example.com", "colour": "red", "headers": {"Host": "x"}}'
    with pytest.raises(Invalid) as refused:
        await registry().check(Family.ENDPOINT, "http", None, configuration)
    fields = {error.field for error in refused.value.errors}
    assert fields == {"Configuration.colour", "Configuration.url", "Configuration.headers.Host"}


async def test_a_text_with_a_variable_is_no_number() -> None:
    configuration = '{"url": "https://example.com", "timeoutSeconds": "{{var:patience}}"}'
    with pytest.raises(Invalid) as refused:
        await registry().check(Family.ENDPOINT, "http", None, configuration)
    assert [(error.field, error.fault) for error in refused.value.errors] == [
        ("Configuration.timeoutSeconds", Fault.TYPE)
    ]
