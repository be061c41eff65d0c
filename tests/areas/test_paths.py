"""What is answered where nothing, or not this method, is served."""

import httpx
import pytest

from tests.application import Application


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/a"), ("GET", "/a/b"), ("POST", "/a/b"), ("GET", "/a/b/c"), ("GET", "/agents/x/y/z"), ("PUT", "/")],
)
async def test_an_unknown_path_is_not_found_whatever_the_method(
    application: Application, method: str, path: str
) -> None:
    answer = await application.admin.request(method, path)
    assert (answer.status_code, answer.json()["code"]) == (404, "not-found")


async def test_a_method_that_a_path_lacks_is_told_with_those_it_has(application: Application) -> None:
    answer = await application.admin.patch("/agents")
    assert answer.status_code == 405
    assert {"GET", "PUT"} <= set(answer.headers["allow"].replace(" ", "").split(","))


async def test_a_key_is_removed_by_the_path_of_lowest_precedence(application: Application) -> None:
    answer = await application.admin.delete("/nobody/nothing")
    assert answer.status_code == 404
    assert "nobody" in answer.json()["detail"]


async def test_an_escaped_slash_stays_in_its_parameter(application: Application) -> None:
    answer = await application.admin.get("/variables/a%2Fb")
    assert answer.json()["detail"] == "variable 'a/b' does not exist"


async def test_every_answer_carries_its_request_id(application: Application) -> None:
    given = await application.anonymous.get("/healthz", headers={"X-Request-ID": "mine-1"})
    assert given.headers["x-request-id"] == "mine-1"
    made: httpx.Response = await application.anonymous.get("/nowhere", headers={"X-Request-ID": "not {ok}"})
    assert made.headers["x-request-id"] in made.json()["instance"]
    assert made.headers["x-request-id"] != "not {ok}"


async def test_cross_origin_calls_are_not_allowed_unless_set(application: Application) -> None:
    answer = await application.anonymous.get("/healthz", headers={"Origin": "https://elsewhere.example"})
    assert "access-control-allow-origin" not in answer.headers
