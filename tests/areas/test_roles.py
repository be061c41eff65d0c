"""The role matrix, made from the routes: each operation with each role."""

from uuid import uuid4

import httpx
import pytest

from penstock.kernel.actor import Role
from penstock.resource.operation import Operation
from tests.application import Application

RANKS = (Role.READER, Role.OPERATOR, Role.ADMIN)


def address(operation: Operation) -> str:
    """The operation's path with parameters that name nothing that exists."""
    path = operation.declaration.path
    for name in operation.path_names:
        path = path.replace(f"{{{name}}}", str(uuid4()))
    return path


async def send(client: httpx.AsyncClient, operation: Operation) -> httpx.Response:
    # An unknown query parameter is refused after authorisation, so nothing is changed by an allowed call.
    return await client.request(operation.declaration.method, address(operation), params={"no-such-parameter": "1"})


def allowed(operation: Operation, role: Role) -> bool:
    return not operation.declaration.roles or any(role.covers(needed) for needed in operation.declaration.roles)


async def test_each_operation_answers_each_role_as_declared(application: Application) -> None:
    clients = {Role.READER: application.reader, Role.OPERATOR: application.operator, Role.ADMIN: application.admin}
    for operation in application.platform.operations:
        for role in RANKS:
            answer = await send(clients[role], operation)
            forbidden = answer.status_code == 403
            assert forbidden != allowed(operation, role), (role, operation.declaration, answer.text)


async def test_an_agent_may_call_its_own_operations_alone(application: Application) -> None:
    token = (await application.admin.post("/agents/create", json="roles")).json()["Token"]
    registered = await application.anonymous.post("/agent/register", json={"Name": "role-matrix", "Token": token})
    async with application.client(**{"X-API-Key": registered.json()["ValidationToken"]}) as agent:
        for operation in application.platform.operations:
            answer = await send(agent, operation)
            assert (answer.status_code == 403) != allowed(operation, Role.AGENT), (operation.declaration, answer.text)


async def test_only_open_operations_answer_without_credentials(application: Application) -> None:
    for operation in application.platform.operations:
        answer = await send(application.anonymous, operation)
        refused = answer.status_code == 401 and answer.json()["detail" if "detail" in answer.json() else "title"]
        assert bool(refused) == bool(operation.declaration.roles), (operation.declaration, answer.text)


async def test_a_made_up_credential_is_refused_everywhere(application: Application) -> None:
    async with application.client(**{"X-API-Key": "pk_made_up"}) as client:
        for operation in application.platform.operations:
            if operation.declaration.roles:
                assert (await send(client, operation)).status_code == 401, operation.declaration


@pytest.mark.parametrize("scheme", ["Basic YWRtaW46YWRtaW4=", "Bearer", "bearer a.b.c", "Token x"])
async def test_a_malformed_authorization_header_is_refused(application: Application, scheme: str) -> None:
    async with application.client(Authorization=scheme) as client:
        answer = await client.get("/agents")
    assert answer.status_code == 401
    assert answer.headers["content-type"] == "application/problem+json"
