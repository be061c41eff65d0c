"""Who may send to a webhook."""

import base64
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from penstock.areas.webhooks.authentication import check
from penstock.areas.webhooks.model import AuthenticationType, WebhookAuthentication
from penstock.areas.webhooks.request import WebhookRequest
from penstock.kernel.errors import Unauthenticated
from tests.areas.hooks import KEY, MASK, WHSEC, Hook, hmac_of, signed


async def test_a_secret_in_a_header_lets_in_and_is_masked(hook: Hook) -> None:
    await hook.make({"type": "secret", "header": "X-Proof", "secrets": [KEY]})
    assert (await hook.send(X_Proof=KEY)).status_code == 200
    for wrong in ({}, {"X_Proof": KEY[:-1]}, {"X_Proof": ""}, {"X_Other": KEY}):
        answer = await hook.send(**wrong)
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
        assert KEY not in answer.text
    [message] = await hook.history()
    assert message["Headers"]["x-proof"] == MASK
    assert len(await hook.events()) == 1


async def test_a_prefix_stands_before_the_secret(hook: Hook) -> None:
    await hook.make({"type": "secret", "header": "Authorization", "prefix": "Bearer ", "secrets": [KEY]})
    assert (await hook.send(Authorization=f"Bearer {KEY}")).status_code == 200
    assert (await hook.send(Authorization=KEY)).status_code == 401


async def test_a_secret_in_the_query_lets_in_and_is_masked(hook: Hook) -> None:
    await hook.make({"type": "secret", "query": "k", "secrets": ["abc def/+=&"]})
    assert (await hook.send(query="x=1&k=abc%20def%2F%2B%3D%26")).status_code == 200
    assert (await hook.send(query="x=1&k=abc")).status_code == 401
    assert (await hook.send(query="%%%")).status_code == 401
    [message] = await hook.history()
    assert message["QueryString"] == f"x=1&k={MASK}"


@pytest.mark.parametrize("algorithm", ["sha256", "sha512", "sha1"])
async def test_the_hmac_of_the_body_lets_in(hook: Hook, algorithm: str) -> None:
    await hook.make(
        {"type": "hmac", "header": "X-Hub-Signature", "prefix": "sum=", "algorithm": algorithm, "secrets": [KEY]}
    )
    body = b"\xff\x00{}"
    signature = hmac_of(body, algorithm).hex()
    assert (await hook.send(body, X_Hub_Signature=f"sum={signature}")).status_code == 200
    assert (await hook.send(body, X_Hub_Signature=f"sum={signature.upper()}")).status_code == 200
    assert (await hook.send(body + b" ", X_Hub_Signature=f"sum={signature}")).status_code == 401
    assert (await hook.send(body, X_Hub_Signature=signature)).status_code == 401
    assert (await hook.send(body)).status_code == 401
    assert len(await hook.history()) == 2


async def test_an_hmac_may_be_in_base64(hook: Hook) -> None:
    await hook.make({"type": "hmac", "header": "X-Shop-Hmac", "encoding": "base64", "secrets": [KEY]})
    signature = base64.b64encode(hmac_of(b"{}")).decode()
    assert (await hook.send(b"{}", X_Shop_Hmac=signature)).status_code == 200
    assert (await hook.send(b"{}", X_Shop_Hmac=signature.swapcase())).status_code == 401


async def test_a_standard_webhooks_signature_lets_in(hook: Hook) -> None:
    await hook.make({"type": "standard", "secrets": [WHSEC]})
    now = datetime.now(UTC)
    headers = signed(b"{}", now)
    assert (await hook.send(b"{}", **headers)).status_code == 200
    for wrong in (
        {**headers, "webhook-id": "msg_2"},
        {**headers, "webhook-timestamp": str(int(now.timestamp()) + 1)},
        {**headers, "webhook-signature": "v1,AAAA"},
        signed(b"{}", now - timedelta(minutes=6)),
        signed(b"{}", now + timedelta(minutes=6)),
        {},
    ):
        assert (await hook.send(b"{}", **wrong)).status_code == 401
    assert len(await hook.history()) == 1


async def test_a_signed_request_that_is_sent_again_is_one_event(hook: Hook) -> None:
    await hook.make({"type": "standard", "secrets": [WHSEC]})
    id = f"msg_{uuid4().hex}"
    for _ in range(2):
        assert (await hook.send(b"{}", **signed(b"{}", datetime.now(UTC), id=id))).status_code == 200
    assert [event.id for event in await hook.events()] == [id]
    assert len(await hook.history()) == 2


async def test_each_of_several_secrets_holds(hook: Hook) -> None:
    other = "whsec_" + base64.b64encode(b"o" * 24).decode()
    await hook.make({"type": "standard", "secrets": [other, WHSEC]})
    for secret in (other, WHSEC):
        assert (await hook.send(b"{}", **signed(b"{}", datetime.now(UTC), secret, secret))).status_code == 200


async def test_a_secret_may_be_a_variable(hook: Hook) -> None:
    variable = f"v{uuid4().hex}"
    await hook.make({"type": "secret", "header": "X-Proof", "secrets": [f"{{{{var:{variable}}}}}"]})
    missing = await hook.send(X_Proof=KEY)
    assert missing.status_code == 503
    assert variable in missing.json()["detail"]
    document = {
        "apiVersion": "penstock/v1alpha1",
        "kind": "Variable",
        "metadata": {"name": variable},
        "spec": {"value": KEY, "isSecret": True},
    }
    assert (await hook.application.apply(document)).status_code == 202
    assert (await hook.send(X_Proof=KEY)).status_code == 200
    assert (await hook.send(X_Proof=f"{{{{var:{variable}}}}}")).status_code == 401


def test_githubs_own_example_of_a_signature_lets_in() -> None:
    # docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries
    signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    authentication = WebhookAuthentication(type=AuthenticationType.HMAC, header="X-Hub-Signature-256", prefix="sha256=")
    request = WebhookRequest("POST", "/", "", [("x-hub-signature-256", signature)], b"Hello, World!")
    check(authentication, ["It's a Secret to Everybody"], request, datetime.now(UTC))
    with pytest.raises(Unauthenticated):
        check(authentication, ["It's a secret to everybody"], request, datetime.now(UTC))
