"""The Admin that a server's first start makes."""

import asyncio
from pathlib import Path

import pytest

from penstock.areas.identity.service import Users
from penstock.kernel.errors import Invalid
from penstock.server.first_start import prepare_first_start
from penstock.server.platform import open_platform
from tests.application import ADMIN_PASSWORD, running_application, settings_for
from tests.areas.accounts import admins, call_with, create, delete, log_in
from tests.areas.files import files_that_contain


async def test_the_first_start_generates_a_password_and_the_second_does_not(tmp_path: Path) -> None:
    settings = settings_for(tmp_path, PENSTOCK_ADMIN_PASSWORD="")
    async with open_platform(settings) as platform:
        password = await prepare_first_start(platform)
        assert password
    async with running_application(tmp_path, PENSTOCK_ADMIN_PASSWORD=password) as application:
        assert await prepare_first_start(application.platform) is None
        assert (await log_in(application, "admin", password)).status_code == 200
    assert files_that_contain(tmp_path, password) == []


async def test_a_password_that_somebody_keeps_is_on_disk_before_the_admin_is(tmp_path: Path) -> None:
    kept = tmp_path / "first-password"
    settings = settings_for(tmp_path, PENSTOCK_ADMIN_PASSWORD="", PENSTOCK_FIRST_PASSWORD_FILE=str(kept))
    kept.write_text("from a start that was broken off")
    async with open_platform(settings) as platform:
        assert await prepare_first_start(platform) is None
        assert kept.read_text() == "from a start that was broken off"
        kept.unlink()
        assert await prepare_first_start(platform) is None
        assert not kept.exists()
    password = "from a start that was broken off"
    async with running_application(tmp_path, PENSTOCK_ADMIN_PASSWORD=password) as application:
        assert (await log_in(application, "admin", password)).status_code == 200


async def test_a_password_that_is_made_is_kept_for_the_owner_alone(tmp_path: Path) -> None:
    kept = tmp_path / "first-password"
    async with open_platform(
        settings_for(tmp_path, PENSTOCK_ADMIN_PASSWORD="", PENSTOCK_FIRST_PASSWORD_FILE=str(kept))
    ) as platform:
        assert await prepare_first_start(platform) is None
    assert kept.stat().st_mode & 0o777 == 0o600
    async with running_application(tmp_path, PENSTOCK_ADMIN_PASSWORD=kept.read_text()) as application:
        assert application.admin.headers["Authorization"]


async def test_a_server_does_not_start_with_a_master_key_that_opens_nothing(tmp_path: Path) -> None:
    async with open_platform(settings_for(tmp_path)) as platform:
        await prepare_first_start(platform)
    (tmp_path / "secret-key").unlink()
    async with open_platform(settings_for(tmp_path, PENSTOCK_ADMIN_PASSWORD="")) as platform:
        with pytest.raises(Invalid, match="PENSTOCK_SECRET_KEY"):
            await prepare_first_start(platform)
    async with running_application(tmp_path) as application:  # a password given goes on without the secrets
        assert (await application.admin.get("/agents")).status_code == 200


async def test_another_password_in_the_settings_replaces_the_one_of_before_and_ends_its_sessions(
    tmp_path: Path,
) -> None:
    async with running_application(tmp_path, PENSTOCK_ADMIN_PASSWORD=ADMIN_PASSWORD) as application:
        token = application.admin.headers["Authorization"]
        users = application.platform.container.get(Users)
        assert await call_with(application, Authorization=token) == 200
        assert await users.ensure_admin(ADMIN_PASSWORD) is None
        assert await call_with(application, Authorization=token) == 200
        assert await users.ensure_admin("another password") is None
        assert await call_with(application, Authorization=token) == 401
        assert (await log_in(application, "admin", "another password")).status_code == 200
        assert (await log_in(application, "admin", ADMIN_PASSWORD)).status_code == 401


async def test_an_admin_who_was_deleted_does_not_come_back_while_there_is_another(tmp_path: Path) -> None:
    async with running_application(tmp_path) as application:
        await create(application, "boss@example.com", "Admin")
        assert (await delete(application, "admin")).status_code == 200
        users = application.platform.container.get(Users)
        assert await users.ensure_admin(None) is None
        assert await users.ensure_admin(ADMIN_PASSWORD) is None
        assert await admins(application) == ["boss@example.com"]


async def test_of_replicas_that_start_at_once_one_makes_the_first_admin(tmp_path: Path) -> None:
    async with open_platform(settings_for(tmp_path)) as platform:
        users = platform.container.get(Users)
        passwords = await asyncio.gather(*(users.ensure_admin(None) for _ in range(4)))
        assert len([password for password in passwords if password]) == 1


async def test_a_short_password_for_the_first_admin_is_refused_by_its_setting(tmp_path: Path) -> None:
    async with open_platform(settings_for(tmp_path, PENSTOCK_ADMIN_PASSWORD="1234567")) as platform:
        with pytest.raises(Invalid, match="PENSTOCK_ADMIN_PASSWORD"):
            await prepare_first_start(platform)
