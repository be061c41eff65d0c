"""What is answered where nothing, or not this method, is served."""

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


async def test_options_tells_the_methods_of_a_path(application: Application) -> None:
    answer = await application.anonymous.options("/agents")
    assert answer.status_code == 204
    assert answer.headers["allow"] == "GET, HEAD, OPTIONS, PUT"
    assert (await application.anonymous.options("/nowhere/at/all")).status_code == 404


async def test_a_key_is_removed_by_the_path_of_lowest_precedence(application: Application) -> None:
    answer = await application.admin.delete("/nobody/nothing")
    assert answer.status_code == 404
    assert "nobody" in answer.json()["detail"]


async def test_an_escaped_slash_stays_in_its_parameter(application: Application) -> None:
    answer = await application.admin.get("/variables/a%2Fb")
    assert answer.json()["detail"] == "variable 'a/b' does not exist"
