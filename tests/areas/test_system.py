"""System information and the policy report over HTTP."""

from datetime import UTC, datetime
from importlib.metadata import version

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.areas.system.service import masked_headers
from tests.application import Application


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_the_request_is_told_as_it_arrived(application: Application, method: str) -> None:
    answer = await application.reader.request(method, "/debug/systeminfo", headers={"X-Forwarded-Host": "example.com"})
    assert answer.status_code == 200
    info = answer.json()
    assert info["Method"] == method
    assert (info["Scheme"], info["Protocol"], info["IsHttps"]) == ("http", "HTTP/1.1", False)
    assert info["RequestNetwork"] == "127.0.0.1"
    assert "x-forwarded-host: example.com" in info["Headers"]


async def test_build_and_machine_are_told(application: Application) -> None:
    info = (await application.reader.get("/debug/systeminfo")).json()
    assert info["BuildVersion"] == version("penstock")
    assert datetime.fromisoformat(info["BuildDate"]) < datetime.now(UTC)
    assert info["HostName"]


async def test_headers_that_carry_secrets_are_masked(application: Application) -> None:
    secret = "s3cret-in-a-header"
    names = ["Cookie", "X-API-Key", "Proxy-Authorization", "X-Amz-Security-Token", "X-Session-Id", "X-Client-Cert"]
    for name in names:
        headers = {name: secret}
        if name == "X-API-Key":  # it would be taken as the credential
            headers = {"X-API-Key-2": secret}
        answer = await application.reader.get("/debug/systeminfo", headers=headers)
        assert secret not in answer.text
        assert f"{next(iter(headers)).lower()}: ********" in answer.json()["Headers"]
    token = application.reader.headers["Authorization"].removeprefix("Bearer ")
    assert token not in answer.text
    assert "authorization: ********" in answer.json()["Headers"]


async def test_a_body_of_the_post_is_passed_over(application: Application) -> None:
    answer = await application.reader.post(
        "/debug/systeminfo", content=b"\x00not json", headers={"Content-Type": "x/y"}
    )
    assert answer.status_code == 200


async def test_without_credentials_nothing_is_told(application: Application) -> None:
    for method, path in (("GET", ""), ("POST", ""), ("GET", "/policyreport")):
        assert (await application.anonymous.request(method, f"/debug/systeminfo{path}")).status_code == 401


async def test_the_policy_report_lists_every_operation_with_those_who_may_call_it(application: Application) -> None:
    answer = await application.reader.get("/debug/systeminfo/policyreport")
    assert answer.headers["content-type"] == "application/json"
    report = answer.json()
    document = (await application.anonymous.get("/openapi.json")).json()
    for path, methods in document["paths"].items():
        for method in methods:
            assert f"| {method.upper()} {path} |" in report
    assert "| GET /variables | Reader, Operator, Admin | - |" in report
    assert "| GET /variables/{name}/reveal | Admin | - |" in report
    assert "| PUT /configuration | Admin | 16 MiB |" in report
    assert "| POST /identity/login/username | everyone |" in report


async def test_the_policy_report_tells_the_rules_of_passwords_and_tokens(application: Application) -> None:
    report = (await application.reader.get("/debug/systeminfo/policyreport")).json()
    assert "Access token lifetime: 1440 minutes" in report
    assert "Refresh token lifetime: 14 days" in report
    assert "argon2id" in report
    assert "at most 1000" in report


@given(st.dictionaries(st.text(), st.text()))
def test_every_header_is_told_once_with_its_name(headers: dict[str, str]) -> None:
    told = masked_headers(headers)
    assert len(told) == len(headers)
    assert all(line.startswith(f"{name}: ") for name, line in zip(sorted(headers), told, strict=True))
