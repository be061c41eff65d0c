"""The table that gateways serve: told at each change, with variables, keys and limits in it."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

import pytest

from penstock.kernel.errors import Forbidden, PenstockError
from penstock.kernel.wire import encode
from penstock.protocol import subjects
from penstock.protocol.gateway import Access, GatewayHost, GatewayRate, TableQuestion
from tests.application import Application, running_application
from tests.areas.agent_link import AgentLink
from tests.areas.gateway_link import calls
from tests.areas.gateway_tables import TableWatch, watched_table
from tests.areas.published import new_api, new_subscription, new_version
from tests.areas.variables import put


@pytest.fixture
async def watch(application: Application, name: str) -> AsyncIterator[TableWatch]:
    async with watched_table(application, f"edge-{name}") as watched:
        yield watched


async def problem(application: Application, name: str) -> str | None:
    """Why it cannot be served, as Readers are told."""
    answer = await application.reader.get("/apim/problems")
    assert answer.status_code == 200, answer.text
    return next((each["Problem"] for each in answer.json() if each["Name"] == name), None)


async def test_a_published_version_is_told_with_all_that_holds_for_it(
    application: Application, watch: TableWatch, name: str
) -> None:
    await new_api(application, name, Prefix=f"shop/{name}")
    await new_version(
        application,
        name,
        Parameters={
            "Url": "https://orders.example.com/base/",
            "Timeout": "00:00:05",
            "Retries": 3,
            "HealthPath": "/health",
            "Deprecated": "2026-01-01",
            "Sunset": "2027-01-01",
        },
        Authentication={"Type": "apikey, oidc"},
        Connection={"UseProxy": True, "AutomaticDecompression": -1, "ConnectTimeout": "00:00:03"},
    )
    version = await watch.becomes(lambda table: table.version(f"{name}/v1"))
    assert version.path == f"/shop/{name}/v1"
    upstream = version.upstream
    assert upstream.hosts == [GatewayHost(host="orders.example.com", port=443)]
    assert (upstream.tls, upstream.path, upstream.health_path) == (True, "/base", "/health")
    assert (upstream.retries, upstream.timeout_seconds) == (3, 5.0)
    assert version.access == [Access.API_KEY, Access.OIDC]
    assert (version.connection.use_proxy, version.connection.decompression) == (True, -1)
    assert version.connection.connect_timeout_seconds == 3.0
    assert (version.deprecated, version.sunset) == (datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC))


async def test_what_is_inactive_or_removed_is_not_served(
    application: Application, watch: TableWatch, name: str
) -> None:
    await new_api(application, name)
    made = await new_version(application, name)
    await watch.becomes(lambda table: table.version(f"{name}/v1"))
    await application.operator.put(f"/apim/apiversions/{name}/v1", json=made | {"IsActive": False})
    await watch.becomes(lambda table: table.version(f"{name}/v1") is None)
    await application.operator.put(f"/apim/apiversions/{name}/v1", json=made)
    await watch.becomes(lambda table: table.version(f"{name}/v1"))
    await application.operator.delete(f"/apim/apiversions/{name}/v1")
    await watch.becomes(lambda table: table.version(f"{name}/v1") is None)


async def test_a_subscription_is_told_with_the_paths_that_take_its_type(
    application: Application, watch: TableWatch, name: str
) -> None:
    await new_api(application, name)
    for version, type in (("any", None), ("keys", "apikey"), ("tokens", "oidc"), ("open", "none")):
        await new_version(application, name, version, Authentication={"Type": type})
    await new_version(application, name, "off", IsActive=False)
    limits = {"RateLimit": {"Calls": 5, "Period": "00:01:00"}}
    made = await new_subscription(
        application,
        name,
        name,
        Parameters=limits,
        AdditionalHeaders={"X-Team": "{{var:TEAM}}"},
        Variables={"TEAM": "a"},
    )
    subscription = await watch.becomes(lambda table: table.subscription(name))
    assert subscription.paths == [f"/{name}/any", f"/{name}/keys"]
    assert [key.key for key in subscription.keys] == [made["Key"]]
    assert (subscription.rate, subscription.headers) == (GatewayRate(calls=5, seconds=60), {"X-Team": "a"})
    await new_version(application, name, "more")
    await watch.becomes(lambda table: f"/{name}/more" in table.subscription(name).paths)


async def test_basic_and_oidc_subscriptions_are_told_by_what_their_callers_show(
    application: Application, watch: TableWatch, name: str
) -> None:
    await new_api(application, name)
    made = await new_subscription(
        application, f"{name}-basic", name, Type="basic", Parameters={"UserName": f"user-{name}"}
    )
    token = {"Issuer": "https://{{var:HOST}}/", "Audience": name, "Claim": "client_id", "Value": "shop"}
    await new_subscription(
        application, f"{name}-oidc", name, Type="oidc", Parameters=token, Variables={"HOST": "login.example.com"}
    )
    basic = await watch.becomes(lambda table: table.subscription(f"{name}-basic"))
    assert (basic.user_name, [key.key for key in basic.keys]) == (f"user-{name}", [made["Key"]])
    oidc = (await watch.becomes(lambda table: table.subscription(f"{name}-oidc"))).oidc
    assert (oidc.issuer, oidc.audience, oidc.claim, oidc.value) == (
        "https://login.example.com/",
        name,
        "client_id",
        "shop",
    )


async def test_renewed_and_revoked_keys_are_told(application: Application, watch: TableWatch, name: str) -> None:
    await new_api(application, name)
    first = (await new_subscription(application, name, name))["Key"]
    await watch.becomes(lambda table: table.subscription(name))
    renewed = (await application.admin.post(f"/apim/subscriptions/{name}/key", json={})).json()["Key"]
    both = await watch.becomes(lambda table: (found := table.subscription(name)) and len(found.keys) == 2 and found)
    assert [key.key for key in both.keys] == [renewed, first]
    assert both.keys[0].expires is None
    assert timedelta(hours=23) < both.keys[1].expires - datetime.now(UTC) < timedelta(hours=25)
    await application.admin.delete(f"/apim/subscriptions/{name}/key")
    await watch.becomes(lambda table: table.subscription(name) is None)


async def test_variables_are_replaced_and_followed(application: Application, watch: TableWatch, name: str) -> None:
    await new_api(application, name)
    headers = {"X-Endpoint-Key": f"{{{{var:{name}-key}}}}", "X-Region": f"{{{{var:{name}-region}}}}"}
    await new_version(
        application,
        name,
        Parameters={"Url": f"http://{{{{var:{name}-host}}}}:81/x", "Headers": headers},
        Variables={f"{name}-REGION": "own wins"},
    )
    unserved = await watch.becomes(lambda table: table.version(f"{name}/v1"))
    assert unserved.upstream.hosts == []
    assert await problem(application, f"{name}/v1") == f"Parameters.Url: the variable '{name}-host' does not exist"
    await put(application, f"{name}-region", value="the platform's")
    await put(application, f"{name}-key", value="s3cret", isSecret=True)
    await put(application, f"{name}-host", value="127.0.0.1")
    served = await watch.becomes(lambda table: (found := table.version(f"{name}/v1")).upstream.hosts and found)
    assert served.upstream.hosts == [GatewayHost(host="127.0.0.1", port=81)]
    assert served.upstream.headers == {"X-Endpoint-Key": "s3cret", "X-Region": "own wins"}
    assert await problem(application, f"{name}/v1") is None
    await put(application, f"{name}-host", value="127.0.0.2")
    await watch.becomes(lambda table: table.version(f"{name}/v1").upstream.hosts[0].host == "127.0.0.2")
    await put(application, f"{name}-host", value="no host/at all?")
    await watch.becomes(lambda table: table.version(f"{name}/v1").upstream.hosts == [])


async def test_a_used_up_quota_is_told_until_its_period_ends(
    application: Application, watch: TableWatch, name: str
) -> None:
    await new_api(application, name)
    await new_version(application, name)
    quota = {"Quota": {"Calls": 3, "Period": "month"}}
    await new_subscription(application, name, name, Parameters=quota)
    assert (await watch.becomes(lambda table: table.subscription(name))).spent_until is None
    await watch.gateway.tell(watch.gateway.report(calls(name, name, 2)))
    await watch.gateway.tell(watch.gateway.report(calls(name, name, 5, status=429)))
    await watch.gateway.tell(watch.gateway.report(calls(name, name, 1)))
    until = await watch.becomes(lambda table: table.subscription(name).spent_until)
    assert (until.day, until.hour, until > datetime.now(UTC)) == (1, 0, True)
    await application.admin.put(
        f"/apim/subscriptions/{name}", json={"Apis": [name], "Parameters": {"Quota": {"Calls": 4, "Period": "month"}}}
    )
    await watch.becomes(lambda table: table.subscription(name).spent_until is None)


async def test_a_known_table_is_not_told_again(application: Application, watch: TableWatch) -> None:
    assert await watch.gateway.link.table(watch.stamp) is None
    assert await watch.gateway.link.table("another") is not None


async def test_addresses_that_variables_make_are_guarded(tmp_path: Path) -> None:
    settings = {"PENSTOCK_ALLOW_PRIVATE_ADDRESSES": "false"}
    async with running_application(tmp_path, **settings) as application, watched_table(application, "edge") as watch:
        await new_api(application, "orders")
        await put(application, "host", value="93.184.215.14")
        await new_version(application, "orders", Parameters={"Url": "http://{{var:host}}/"})
        await watch.becomes(lambda table: (found := table.version("orders/v1")) and found.upstream.hosts)
        await put(application, "host", value="169.254.169.254")
        await watch.becomes(lambda table: table.version("orders/v1").upstream.hosts == [])


async def test_a_web_trigger_is_reached_on_the_servers(tmp_path: Path) -> None:
    settings = {"PENSTOCK_PUBLIC_URL": "https://penstock.example.com/base/"}
    async with running_application(tmp_path, **settings) as application, watched_table(application, "edge") as watch:
        action = await application.operator.post("/automation/action", json={"Name": "hello", "Content": "print(1)"})
        trigger = {"ActionId": action.json()["Id"], "Name": "greet", "Route": "greetings", "IsEnabled": True}
        made = await application.operator.post("/automation/triggers/web", json=trigger)
        assert made.is_success, made.text
        await new_api(application, "orders")
        for version, called in (("v1", "greet"), ("v2", "/greetings")):
            await new_version(application, "orders", version, Type="trigger", Parameters={"Trigger": called})
            upstream = (await watch.becomes(lambda table, v=version: table.version(f"orders/{v}"))).upstream
            assert (upstream.hosts, upstream.tls) == ([GatewayHost(host="penstock.example.com", port=443)], True)
            assert upstream.path == "/base/web/greetings"
        await application.operator.delete(f"/automation/triggers/web/{made.json()['Id']}")
        await watch.becomes(lambda table: table.version("orders/v1").upstream.hosts == [])


async def test_a_large_table_comes_in_parts(tmp_path: Path) -> None:
    keys = {f"s{number}": token_urlsafe(190) for number in range(3_000)}
    async with running_application(tmp_path) as application, watched_table(application, "edge") as watch:
        upstream = {"type": "address", "parameters": {"url": "http://127.0.0.1"}}
        answer = await application.apply(
            _document("Api", "orders", {}),
            _document("ApiVersion", "orders/v1", upstream),
            *(_document("ApiSubscription", name, {"apis": ["orders"], "key": key}) for name, key in keys.items()),
        )
        assert answer.status_code == 202
        await watch.becomes(lambda table: len(table.table.subscriptions) == len(keys))
        assert {each.name: each.keys[0].key for each in watch.table.subscriptions} == keys
        assert (await watch.gateway.link._ask_part(TableQuestion())).parts > 1


async def test_no_other_gateway_and_no_agent_asks_in_its_name(
    application: Application, watch: TableWatch, link: AgentLink
) -> None:
    question = encode(TableQuestion())
    other = watch.gateway.link._connection()
    for bus in (other, link.bus):
        with pytest.raises(Forbidden):
            await bus.request(subjects.gateway_ask("another", subjects.TABLE), question, timeout=5)


async def test_a_question_that_cannot_be_read_is_refused(application: Application, watch: TableWatch) -> None:
    bus = watch.gateway.link._connection()
    for body in (b"", b"\xff", b"[]", b'{"Part":"x"}', b'{"Part":-1}'):
        with pytest.raises(PenstockError) as refusal:
            await bus.request(subjects.gateway_ask(watch.gateway.gateway, subjects.TABLE), body, timeout=5)
        assert refusal.value.code == "invalid"


def _document(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "penstock/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec}
