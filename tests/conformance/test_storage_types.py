"""The kinds of storage as rclone tells them, and what a core system may say of one."""

from typing import Any

import pytest

from penstock.rclone.backend import Backend, Backends, read_backends


@pytest.fixture(scope="module")
async def backends() -> Backends:
    return await read_backends()


def backend(backends: Backends, name: str) -> Backend:
    found = backends.find(name)
    assert found is not None
    return found


@pytest.mark.parametrize("name", ["local", "sftp", "ftp", "webdav", "s3", "azureblob", "google cloud storage", "smb"])
def test_storages_of_every_day_are_there(backends: Backends, name: str) -> None:
    assert backends.check_type(name) == []


def test_an_unknown_type_is_named_with_the_nearest_one(backends: Backends) -> None:
    assert "did you mean 'sftp'?" in backends.check_type("sfpt")[0].message


@pytest.mark.parametrize("name", ["alias", "crypt", "union"])
def test_storages_that_hide_others_are_refused(backends: Backends, name: str) -> None:
    assert "hides another storage" in backends.check_type(name)[0].message


@pytest.mark.parametrize(
    ("type", "variables", "field", "told"),
    [
        ("sftp", {"user": "me"}, "Variables", "'host' is missing: SSH host to connect to."),
        ("sftp", {"host": "x", "prot": 22}, "Variables.prot", "did you mean 'port'?"),
        ("sftp", {"host": "x", "port": "many"}, "Variables.port", "must be a whole number"),
        ("sftp", {"host": "x", "disable_hashcheck": "perhaps"}, "Variables.disable_hashcheck", "true or false"),
        ("sftp", {"host": "x", "user": ["me"]}, "Variables.user", "must be a text"),
        ("sftp", {"host": "x", "ssh": "sh -c id"}, "Variables.ssh", "cannot be set"),
        ("sftp", {"host": "x", "key_file": "/root/.ssh/id_rsa"}, "Variables.key_file", "cannot be set"),
        ("sftp", {"host": "x", "md5sum_command": "id"}, "Variables.md5sum_command", "cannot be set"),
        ("webdav", {"url": "https://x", "bearer_token_command": "id"}, "Variables.bearer_token_command", "cannot be"),
        ("s3", {"env_auth": True}, "Variables.env_auth", "cannot be set"),
        ("s3", {"shared_credentials_file": "/x"}, "Variables.shared_credentials_file", "cannot be set"),
        ("local", {"copy_links": True}, "Variables.copy_links", "cannot be set"),
    ],
)
def test_what_is_wrong_with_a_variable_is_told(
    backends: Backends, type: str, variables: dict[str, Any], field: str, told: str
) -> None:
    [error] = backend(backends, type).check(variables)
    assert error.field == field
    assert told in error.message


def test_a_value_that_the_run_puts_in_is_left_to_the_run(backends: Backends) -> None:
    variables = {"host": "{{var:HOST}}", "port": "{{var:PORT}}", "pass": "{{var:PASSWORD}}"}
    assert backend(backends, "sftp").check(variables) == []


@pytest.mark.parametrize(
    ("type", "secret"),
    [("sftp", "pass"), ("sftp", "key_pem"), ("s3", "secret_access_key"), ("webdav", "bearer_token"), ("b2", "key")],
)
def test_secrets_are_known_as_such(backends: Backends, type: str, secret: str) -> None:
    assert [option.is_secret for option in backend(backends, type).options if option.name == secret] == [True]
