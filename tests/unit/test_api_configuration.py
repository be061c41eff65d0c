"""Configurations of APIs, checked and their secrets found by the schemas that packages write."""

from typing import Any

import msgspec
import pytest

from penstock.apihost.configuration import ConfigurationSchema
from penstock.apihost.entrance import Entrance
from penstock.connectors.secret_fields import MASK, with_secrets, without_secrets
from penstock.kernel.errors import Forbidden, Invalid

SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["url"],
    "additionalProperties": False,
    "properties": {
        "url": {"type": "string", "format": "password", "pattern": "^sqlite:"},
        "retries": {"type": "integer", "maximum": 5},
        "logins": {"type": "array", "items": {"$ref": "#/definitions/login"}},
        "keys": {"type": "object", "writeOnly": True, "additionalProperties": {"type": "string"}},
    },
    "definitions": {
        "login": {
            "oneOf": [
                {"$ref": "#/definitions/login"},
                {"properties": {"password": {"type": "string", "writeOnly": True}}},
            ]
        }
    },
}


def errors(configuration: dict[str, Any]) -> dict[str, str]:
    try:
        ConfigurationSchema(msgspec.json.encode(SCHEMA).decode()).check(configuration, "C")
    except Invalid as error:
        return {each.field: each.message for each in error.errors}
    return {}


def test_errors_name_the_field_that_they_are_about() -> None:
    assert errors({"url": "sqlite://"}) == {}
    assert errors({}) == {"C.url": "is required"}
    assert errors({"url": "sqlite://", "size": 1}) == {"C.size": "is not a known field"}
    assert set(errors({"url": "sqlite://", "retries": 9})) == {"C.retries"}


def test_an_error_does_not_repeat_what_may_be_a_secret() -> None:
    assert "hunter2" not in str(errors({"url": "postgresql://hunter2"}))


def test_what_a_variable_may_mend_is_passed_over() -> None:
    assert errors({"url": "{{var:DATABASE}}"}) == {}
    assert set(errors({"logins": [{"password": "{{var:X}}"}]})) == {"C.url"}


def test_secrets_are_found_through_references_alternatives_and_whole_objects() -> None:
    given = {"url": "sqlite:x", "logins": [{"password": "p", "name": "n"}], "keys": {"a": "k", "b": "{{var:B}}"}}
    public, secrets = without_secrets(SCHEMA, given)
    assert public == {
        "url": MASK,
        "logins": [{"password": MASK, "name": "n"}],
        "keys": {"a": MASK, "b": "{{var:B}}"},
    }
    assert secrets == {"url": "sqlite:x", "logins[0].password": "p", "keys.a": "k"}
    assert with_secrets(SCHEMA, public, secrets) == given


def test_a_schema_that_is_none_is_refused() -> None:
    with pytest.raises(Invalid, match="configuration_schema cannot be used"):
        ConfigurationSchema('{"type": "nonsense"}')


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "[::1]", "localhost"])
def test_whoever_reaches_the_loopback_may_call(host: str) -> None:
    entrance = Entrance(host, "", "KEY")
    entrance.check()
    assert entrance.admits(None)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "example.com"])
def test_elsewhere_a_key_is_needed_or_everybody_let_in(host: str) -> None:
    with pytest.raises(Forbidden, match="KEY"):
        Entrance(host, "", "KEY").check()
    keyed = Entrance(host, "right", "KEY")
    keyed.check()
    assert (keyed.admits("right"), keyed.admits("wrong"), keyed.admits(None)) == (True, False, False)
    everybody = Entrance(host, "none", "KEY")
    everybody.check()
    assert everybody.admits(None)
