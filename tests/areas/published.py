"""APIs as tests publish them."""

from typing import Any

import httpx

from tests.application import Application

ADDRESS = "http://127.0.0.1:9/base"

Json = dict[str, Any]


async def new_api(application: Application, name: str, **fields: Any) -> Json:
    answer = await application.operator.post("/apim/apis", json={"Name": name, **fields})
    assert answer.status_code == 201, answer.text
    found: Json = answer.json()
    return found


def version_of(api: str, version: str = "v1", **fields: Any) -> Json:
    """The body that makes an active version at an address."""
    return {
        "ApiName": api,
        "Version": version,
        "IsActive": True,
        "Type": "address",
        "Parameters": {"Url": ADDRESS},
        **fields,
    }


async def post_version(application: Application, api: str, version: str = "v1", **fields: Any) -> httpx.Response:
    return await application.operator.post("/apim/apiversions", json=version_of(api, version, **fields))


async def new_version(application: Application, api: str, version: str = "v1", **fields: Any) -> Json:
    answer = await post_version(application, api, version, **fields)
    assert answer.status_code == 201, answer.text
    found: Json = answer.json()
    return found


async def post_subscription(application: Application, name: str, *apis: str, **fields: Any) -> httpx.Response:
    return await application.admin.post("/apim/subscriptions", json={"Name": name, "Apis": list(apis), **fields})


async def new_subscription(application: Application, name: str, *apis: str, **fields: Any) -> Json:
    answer = await post_subscription(application, name, *apis, **fields)
    assert answer.status_code == 201, answer.text
    found: Json = answer.json()
    return found


def refused(answer: httpx.Response) -> set[str]:
    """The fields that a request was refused for."""
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid"), answer.text
    return {error["field"] for error in answer.json()["errors"]}


def conflict(answer: httpx.Response) -> tuple[int, str]:
    """Status and code."""
    return answer.status_code, answer.json()["code"]
