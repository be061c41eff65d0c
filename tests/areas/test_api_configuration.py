"""Api, ApiVersion and ApiSubscription as configuration: several documents of one text, all or none."""

import json
from typing import Any

import httpx

from tests.application import Application
from tests.areas.published import conflict, new_api, new_version, refused

UPSTREAM = {"url": "http://127.0.0.1:9/base"}

Document = dict[str, Any]


def document(kind: str, name: str, **spec: Any) -> Document:
    return {"apiVersion": "penstock/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def absent(kind: str, name: str) -> Document:
    metadata = {"name": name, "state": "absent"}
    return {"apiVersion": "penstock/v1alpha1", "kind": kind, "metadata": metadata}


def api(name: str, **spec: Any) -> Document:
    return document("Api", name, **spec)


def version(name: str, **spec: Any) -> Document:
    return document("ApiVersion", name, **{"type": "address", "parameters": UPSTREAM, **spec})


def subscription(name: str, *apis: str, **spec: Any) -> Document:
    return document("ApiSubscription", name, apis=list(apis), **spec)


async def shown(application: Application, name: str) -> tuple[list[str], list[str]] | None:
    """Versions and subscriptions of an API."""
    answer = await application.reader.get(f"/apim/apis/{name}")
    if answer.status_code == 404:
        return None
    found = answer.json()
    return [each["Version"] for each in found["Versions"]], [each["Name"] for each in found["Subscriptions"]]


def applied(answer: httpx.Response) -> bool:
    assert answer.status_code == 202, answer.text
    return True


async def test_one_text_publishes_an_api_in_any_order(application: Application, name: str) -> None:
    text = [subscription(name, name, f"{name}/v1"), version(f"{name}/v1"), api(name, prefix=f"shop/{name}")]
    assert applied(await application.apply(*text))
    assert await shown(application, name) == (["v1"], [name])
    assert (await application.reader.get(f"/apim/apis/{name}")).json()["Prefix"] == f"shop/{name}"
    key = (await application.admin.get(f"/apim/subscriptions/{name}/key")).json()
    assert applied(await application.apply(*text))
    assert (await application.admin.get(f"/apim/subscriptions/{name}/key")).json() == key


async def test_a_version_may_be_called_as_one_likes(application: Application, name: str) -> None:
    assert applied(await application.apply(api(name), version(f"{name}-first", apiName=name, version="v1")))
    assert (await application.reader.get(f"/apim/apiversions/{name}/v1")).json()["IsActive"] is True
    assert applied(await application.apply(version(f"{name}/v1", isActive=False)))
    assert (await application.reader.get(f"/apim/apiversions/{name}/v1")).json()["IsActive"] is False
    assert applied(await application.apply(absent("ApiVersion", f"{name}/v1")))
    assert await shown(application, name) == ([], [])


async def test_everything_that_can_be_said_is_what_the_operations_show(application: Application, name: str) -> None:
    upstream = {
        "url": "http://127.0.0.1:9",
        "timeout": "00:00:05",
        "retries": 0,
        "healthPath": "/health",
        "headers": {"X-Endpoint-Key": "{{var:KEY}}"},
        "deprecated": "2026-01-01T00:00:00Z",
        "sunset": "2027-01-01T00:00:00Z",
    }
    connection = {"automaticDecompression": "all", "useProxy": True, "connectTimeout": "00:00:03", "useCookies": False}
    document = version(
        f"{name}/v1",
        parameters=upstream,
        variables={"A": "b"},
        authentication={"type": "apikey,oidc"},
        connection=connection,
    )
    limits = {"rateLimit": {"calls": 5, "period": "00:00:10"}, "quota": {"calls": 100, "period": "week"}}
    basic = subscription(
        name, name, type="basic", parameters={"userName": name, **limits}, additionalHeaders={"X-Team": "a"}
    )
    assert applied(await application.apply(api(name), document, basic))
    found = (await application.reader.get(f"/apim/apiversions/{name}/v1")).json()
    assert found["Parameters"] == {field[:1].upper() + field[1:]: value for field, value in upstream.items()}
    assert found["Authentication"] == {"Type": "apikey,oidc", "Parameters": None}
    assert found["Connection"] == {
        "UseProxy": True,
        "AllowAutoRedirect": False,
        "AutomaticDecompression": -1,
        "UseCookies": False,
        "ConnectTimeout": "00:00:03",
    }
    one = (await application.reader.get(f"/apim/subscriptions/{name}")).json()
    assert one["Parameters"] == {
        "UserName": name,
        "RateLimit": {"Calls": 5, "Period": "00:00:10"},
        "Quota": {"Calls": 100, "Period": "week"},
    }
    plan = (await application.admin.post("/configuration/plan", json=json.dumps(document))).json()
    assert [each["Action"] for each in plan] == ["keep"]


async def test_each_problem_is_told_by_its_place_in_the_text(application: Application, name: str) -> None:
    wrong = version(
        f"{name}/v1",
        parameters={"url": "x", "retries": 99, "headers": {"X-Token": "abc"}},
        connection={"connectTimeout": "01:00:00"},
    )
    answer = await application.apply(
        api(name, prefix="a//b"),
        wrong,
        subscription(name, name, parameters={"rateLimit": {"calls": 0, "period": "00:00:00.5"}}),
    )
    assert refused(answer) == {
        "documents[0].spec.prefix",
        "documents[1].spec.parameters.url",
        "documents[1].spec.parameters.retries",
        "documents[1].spec.parameters.headers.X-Token",
        "documents[1].spec.connection.connectTimeout",
        "documents[2].spec.parameters.rateLimit.calls",
        "documents[2].spec.parameters.rateLimit.period",
    }
    assert await shown(application, name) is None


async def test_what_nothing_makes_is_refused_by_field(application: Application, name: str) -> None:
    answer = await application.apply(
        version(f"{name}/v1"),
        subscription(name, "nothing/v1"),
        version(f"{name}/v2", type="endpoint", parameters={"endpoint": "/nothing"}),
    )
    assert refused(answer) == {"documents[2].spec.parameters.endpoint"}
    answer = await application.apply(version(f"{name}/v1"), subscription(name, "nothing/v1"))
    assert refused(answer) == {"documents[0].spec.apiName", "documents[1].spec.apis[0]"}


async def test_two_documents_of_a_text_do_not_claim_one_route(application: Application, name: str) -> None:
    clashes = [
        [api(f"{name}-a", prefix=name), api(f"{name}-b", prefix=name)],
        [api(f"{name}-a", prefix=name), version(f"{name}-a/v1"), api(f"{name}-b", prefix=f"{name}/v1")],
        [
            api(name),
            version(f"{name}/v1"),
            version(f"{name}-again", apiName=name, version="v1"),
        ],
    ]
    for text in clashes:
        answer = await application.apply(*text)
        assert answer.status_code in (400, 409), answer.text
        assert await shown(application, f"{name}-a") is await shown(application, name) is None


async def test_two_documents_of_a_text_do_not_claim_one_key_or_user(application: Application, name: str) -> None:
    key, user = f"the-key-of-{name}", {"userName": name}
    for spec in ({"key": key}, {"type": "basic", "parameters": user}):
        text = [api(name), subscription(f"{name}-a", name, **spec), subscription(f"{name}-b", name, **spec)]
        answer = await application.apply(*text)
        assert refused(answer) == {"documents[1].metadata.name", "documents[2].metadata.name"}
        assert key not in answer.text
        assert await shown(application, name) is None


async def test_a_text_removes_an_api_with_all_that_needs_it_or_not_at_all(application: Application, name: str) -> None:
    text = [("Api", name), ("ApiVersion", f"{name}/v1"), ("ApiSubscription", name)]
    assert applied(await application.apply(api(name), version(f"{name}/v1"), subscription(name, name)))
    for kept in range(1, 3):
        answer = await application.apply(*(absent(*each) for each in text if each != text[kept]))
        assert conflict(answer) == (409, "in-use")
        assert await shown(application, name) == (["v1"], [name])
    assert applied(await application.apply(*(absent(*each) for each in text)))
    assert await shown(application, name) is None


async def test_what_the_operations_made_a_document_changes(application: Application, name: str) -> None:
    await new_api(application, name, Description="by hand")
    await new_version(application, name)
    assert applied(await application.apply(api(name.upper(), prefix=f"{name}/moved"), version(f"{name}/V1")))
    found = (await application.reader.get(f"/apim/apis/{name}")).json()
    assert (found["Name"], found["Prefix"], found["Description"]) == (name, f"{name}/moved", None)
    assert [each["Version"] for each in found["Versions"]] == ["v1"]
