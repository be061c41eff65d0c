"""Variables, as tests apply and read them."""

from typing import Any

from penstock.areas.variables.model import VARIABLES
from penstock.store.store import Store
from tests.application import Application

MASK = "********"


def document(name: str, state: str = "present", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "penstock/v1alpha1",
        "kind": "Variable",
        "metadata": {"name": name, "state": state},
        "spec": spec,
    }


async def put(application: Application, name: str, state: str = "present", **spec: Any) -> None:
    answer = await application.apply(document(name, state, **spec))
    assert answer.status_code == 202, answer.text


async def refused(application: Application, name: str, **spec: Any) -> dict[str, str]:
    """The errors of a document that is refused: field -> message."""
    answer = await application.apply(document(name, **spec))
    assert answer.status_code == 400, answer.text
    return {error["field"].removeprefix("documents[0]."): error["message"] for error in answer.json()["errors"]}


async def read(application: Application, name: str) -> dict[str, Any]:
    answer = await application.reader.get(f"/variables/{name}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def reveal(application: Application, name: str) -> Any:
    answer = await application.admin.get(f"/variables/{name}/reveal")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/json"
    return answer.json()


async def events_of(application: Application, name: str) -> list[dict[str, Any]]:
    """The audit log of a variable, oldest first."""
    found = await application.platform.container.get(Store).find(VARIABLES, "name", name)
    assert found is not None
    span = {"entityId": str(found.id), "fromDate": "2020-01-01", "toDate": "2100-01-01"}
    events = (await application.admin.get("/events/store", params=span)).json()
    return list(reversed(events))
