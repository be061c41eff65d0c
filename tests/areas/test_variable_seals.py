"""Secret variables at rest: sealed, sealed anew, and with a key that opens nothing."""

import asyncio
import os
from base64 import b64decode, b64encode
from pathlib import Path

import pytest

from penstock.areas.variables.model import VARIABLES
from penstock.areas.variables.service import VariableService
from penstock.kernel.errors import Invalid
from penstock.resource.ports.variables import Variables
from penstock.resource.secrets import Secrets, SecretUnreadable
from penstock.server.platform import open_platform
from penstock.store.store import Store
from tests.application import Application, running_application, settings_for
from tests.areas.files import files_that_contain
from tests.areas.variables import MASK, put, read, refused, reveal


async def test_a_secret_is_in_no_file(tmp_path: Path, name: str) -> None:
    secrets = ["s3cret-of-the-first", "s3cret-of-the-second"]
    async with running_application(tmp_path) as application:
        for secret in secrets:
            await put(application, name, value=secret, isSecret=True)
            assert await reveal(application, name) == secret
        await put(application, name + "-open", value="this is public")
        assert files_that_contain(tmp_path, "s3cret-of-the") == []
        assert files_that_contain(tmp_path, "this is public") != []
    assert files_that_contain(tmp_path, "s3cret-of-the") == []


async def test_after_a_key_rotation_secrets_are_sealed_anew_and_the_old_key_can_go(tmp_path: Path, name: str) -> None:
    old, new = (b64encode(os.urandom(32)).decode() for _ in range(2))
    async with running_application(tmp_path, PENSTOCK_SECRET_KEY=old) as application:
        await put(application, name, value="s3cret", isSecret=True)
        e_tag = (await application.reader.get(f"/variables/{name}")).headers["etag"]
    rotated = settings_for(tmp_path, PENSTOCK_SECRET_KEY=new, PENSTOCK_SECRET_KEY_PREVIOUS=old)
    async with open_platform(rotated) as platform:
        service = platform.container.get(VariableService)
        assert await service.values([name]) == {name: ("s3cret", True)}
        assert (await service.renew_seals()).renewed == 1
        assert (await service.renew_seals()).renewed == 0
    async with running_application(tmp_path, PENSTOCK_SECRET_KEY=new) as application:
        assert await reveal(application, name) == "s3cret"
        assert (await application.reader.get(f"/variables/{name}")).headers["etag"] == e_tag


async def test_the_server_seals_anew_by_itself_when_it_starts(tmp_path: Path, name: str) -> None:
    old, new = (b64encode(os.urandom(32)).decode() for _ in range(2))
    async with running_application(tmp_path, PENSTOCK_SECRET_KEY=old) as application:
        await put(application, name, value="s3cret", isSecret=True)
    rotated = {"PENSTOCK_SECRET_KEY": new, "PENSTOCK_SECRET_KEY_PREVIOUS": old}
    async with running_application(tmp_path, **rotated) as application:
        async with asyncio.timeout(20):
            while not await sealed_with(application, name, new):
                await asyncio.sleep(0.02)
    async with running_application(tmp_path, PENSTOCK_SECRET_KEY=new) as application:
        assert await reveal(application, name) == "s3cret"
        # The password's hash was sealed anew as well, or the Admin could not have logged in before the change.
        assert (await application.admin.get("/identity/user")).status_code == 200


async def sealed_with(application: Application, name: str, key: str) -> bool:
    store = application.platform.container.get(Store)
    found = await store.find(VARIABLES, "name", name)
    assert found is not None
    return Secrets(b64decode(key)).is_current(await store.sealed(VARIABLES, found.id) or b"")


async def test_with_a_foreign_key_secrets_are_unavailable_with_a_clear_reason_and_can_be_set_anew(
    tmp_path: Path, name: str
) -> None:
    old, new = (b64encode(os.urandom(32)).decode() for _ in range(2))
    async with running_application(tmp_path, PENSTOCK_SECRET_KEY=old) as application:
        await put(application, name, value="s3cret", isSecret=True)
        await put(application, name + "-open", value="blue")
    async with running_application(tmp_path, PENSTOCK_SECRET_KEY=new) as application:
        answer = await application.admin.get(f"/variables/{name}/reveal")
        assert (answer.status_code, answer.json()["code"]) == (503, "secret-unreadable")
        assert "sealed with the key" in answer.json()["detail"]
        assert await reveal(application, name + "-open") == "blue"
        assert (await read(application, name))["Value"] == MASK
        with pytest.raises(SecretUnreadable):
            await application.platform.container.get(Variables).values([name])
        assert (await refused(application, name, isSecret=True, description="x")).keys() == {"spec.value"}
        await put(application, name, value="another", isSecret=True)
        assert await reveal(application, name) == "another"


@pytest.mark.parametrize("setting", ["PENSTOCK_SECRET_KEY", "PENSTOCK_SECRET_KEY_PREVIOUS"])
async def test_a_key_that_is_none_stops_the_start_by_its_setting(tmp_path: Path, setting: str) -> None:
    with pytest.raises(Invalid) as caught:
        async with open_platform(settings_for(tmp_path, **{setting: "c2hvcnQ="})):
            pass
    assert setting in str(caught.value)
    assert "c2hvcnQ=" not in str(caught.value)
