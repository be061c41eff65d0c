"""What the headers of requests do and the headers of answers say."""

from pathlib import Path

import pytest

from tests.application import Application, running_application

CONSOLE = "https://console.example"


async def test_every_answer_carries_its_request_id(application: Application) -> None:
    given = await application.anonymous.get("/healthz", headers={"X-Request-ID": "mine-1"})
    assert given.headers["x-request-id"] == "mine-1"
    made = await application.anonymous.get("/nowhere", headers={"X-Request-ID": "not {ok}"})
    assert made.headers["x-request-id"] in made.json()["instance"]
    assert made.headers["x-request-id"] != "not {ok}"


async def test_cross_origin_calls_are_not_allowed_unless_set(application: Application) -> None:
    answer = await application.anonymous.get("/healthz", headers={"Origin": CONSOLE})
    assert "access-control-allow-origin" not in answer.headers


async def test_origins_that_are_set_may_call_and_read_headers_and_others_may_not(tmp_path: Path) -> None:
    async with running_application(tmp_path, PENSTOCK_CORS_ORIGINS=CONSOLE) as application:
        asked = {"Origin": CONSOLE, "Access-Control-Request-Method": "GET"}
        preflight = await application.anonymous.options("/agents", headers=asked)
        assert (preflight.status_code, preflight.headers["access-control-allow-origin"]) == (204, CONSOLE)
        answer = await application.admin.get("/agents", headers={"Origin": CONSOLE})
        assert answer.headers["access-control-allow-origin"] == CONSOLE
        assert "Link" in answer.headers["access-control-expose-headers"]
        for other in ("https://consoleXexample", f"{CONSOLE}.evil.example", "null"):
            refused = await application.admin.get("/agents", headers={"Origin": other})
            assert "access-control-allow-origin" not in refused.headers


@pytest.mark.parametrize(
    ("trusted", "seen"), [("127.0.0.0/8", "192.0.2.7"), ("10.0.0.1", "127.0.0.1"), ("", "127.0.0.1")]
)
async def test_only_trusted_proxies_tell_who_calls(tmp_path: Path, trusted: str, seen: str) -> None:
    async with running_application(tmp_path, PENSTOCK_TRUSTED_PROXIES=trusted) as application:
        answer = await application.admin.get("/debug/systeminfo", headers={"X-Forwarded-For": "192.0.2.7"})
        assert answer.json()["RequestNetwork"] == seen


@pytest.mark.parametrize("path", ["/healthz", "/agents", "/nowhere", "/openapi.json", "/docs"])
async def test_answers_are_neither_kept_by_caches_nor_taken_for_other_types(
    application: Application, path: str
) -> None:
    answer = await application.admin.get(path)
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"


async def test_no_page_of_others_may_hold_the_documentation_in_a_frame(application: Application) -> None:
    policy = (await application.anonymous.get("/docs")).headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    script = await application.anonymous.get("/docs/swagger-ui-bundle.js")
    assert "max-age" in script.headers["cache-control"]


async def test_a_compressed_body_is_refused(application: Application) -> None:
    headers = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
    answer = await application.admin.post("/identity/user", content=b"{}", headers=headers)
    assert answer.status_code == 415
