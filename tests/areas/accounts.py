"""Users and their keys, as tests make and use them."""

from typing import Any

import httpx

from penstock.areas.identity.service import Users
from tests.application import Application


async def create(application: Application, email: str, roles: str = "Reader") -> str:
    """Creates a user; the generated password."""
    answer = await application.admin.post("/identity/user", json={"Email": email, "Roles": roles})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["Password"])


async def delete(application: Application, username: Any) -> httpx.Response:
    return await application.admin.request("DELETE", "/identity/user", json=username)


async def log_in(application: Application, username: str, password: str) -> httpx.Response:
    model = {"UserName": username, "Password": password}
    return await application.anonymous.post("/identity/login/username", json=model)


async def create_key(application: Application, username: str, **query: str) -> httpx.Response:
    return await application.admin.post("/identity/apikey", params={"username": username, **query})


async def call_with(application: Application, **headers: str | bytes) -> int:
    """The status of a read that needs the role Reader."""
    return (await application.anonymous.get("/variables", headers=dict(headers))).status_code


async def admins(application: Application) -> list[str]:
    """The names of all Admins, whether or not the application's own client still may ask."""
    users = await application.platform.container.get(Users).list()
    return [user.username or "" for user in users if "Admin" in (user.roles or [])]
