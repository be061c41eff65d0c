"""Serves routes: checks who calls, runs the script with what the request has, answers its result."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from penstock.areas.triggers.checks import run_parameters
from penstock.areas.triggers.model import Access
from penstock.areas.triggers.notebook_endpoints import NotebookEndpointService
from penstock.areas.triggers.policy import TriggerPolicy
from penstock.areas.triggers.routes import Routes
from penstock.areas.triggers.stored import RouteOwner
from penstock.areas.triggers.web_request import WebRequest, parameters_of
from penstock.areas.triggers.web_triggers import TYPE, WebTriggerService
from penstock.engine.result import RunFailed
from penstock.kernel.actor import SYSTEM
from penstock.kernel.errors import (
    FieldError,
    Invalid,
    NotFound,
    Overdue,
    TooManyRequests,
    Unauthenticated,
    Unavailable,
)
from penstock.resource.ports.runs import AcceptedRun, RunAnswer, RunParameter, RunTrigger
from penstock.resource.ports.scripts import Actions, Notebooks, Scripts
from penstock.resource.token import token_matches

_SUCCEEDED, _FAILED = 200, 422
SECRET_HEADER = "x-trigger-secret"  # noqa: S105
_BEARER = "bearer "


@dataclass(frozen=True)
class Served:
    """What serves a route. fixed: parameters that no request may change."""

    id: UUID
    scripts: Scripts
    script_id: UUID
    fixed: Sequence[RunParameter]
    access: Access
    secret_hash: str | None

    def check(self, headers: Mapping[str, str]) -> None:
        """Raises Unauthenticated."""
        if self.access is Access.OPEN:
            return
        given = headers.get(SECRET_HEADER)
        if given is None and headers.get("authorization", "").lower().startswith(_BEARER):
            given = headers["authorization"][len(_BEARER) :].strip()
        if not given or self.secret_hash is None or not token_matches(given, self.secret_hash):
            raise Unauthenticated("the route needs its secret, in X-Trigger-Secret or as Authorization: Bearer")


@dataclass(frozen=True)
class WebResult:
    """What a request is answered."""

    run_id: UUID
    answer: RunAnswer


class WebRuns:
    """A caller that waits too long does not end the run, which counts as in progress for as long as it goes on.

    going_on: such runs, with what serves their route.
    """

    def __init__(
        self,
        routes: Routes,
        triggers: WebTriggerService,
        endpoints: NotebookEndpointService,
        actions: Actions,
        notebooks: Notebooks,
        policy: TriggerPolicy,
    ) -> None:
        self._routes = routes
        self._triggers = triggers
        self._endpoints = endpoints
        self._actions = actions
        self._notebooks = notebooks
        self._policy = policy
        self._in_progress: Counter[UUID] = Counter()
        self.going_on: asyncio.Queue[tuple[UUID, AcceptedRun]] = asyncio.Queue()

    async def served(self, route: str) -> Served:
        """Raises NotFound where nothing serves the route, or what does is disabled."""
        found = await self._routes.find(route)
        served = await self._found(found.key, found.owner) if found is not None else None
        if served is None:
            raise NotFound(f"nothing is served at /web/{route}")
        return served

    async def run(self, served: Served, request: WebRequest, preferred: str | None) -> WebResult:
        """Raises Invalid, RunFailed, Overdue, TooManyRequests, Unavailable."""
        if self._in_progress[served.id] >= self._policy.at_once:
            raise TooManyRequests(f"{self._policy.at_once} runs of this route are in progress")
        self._in_progress[served.id] += 1
        goes_on: AcceptedRun | None = None
        try:
            run = await self._started(served, request)
            try:
                async with asyncio.timeout(self._policy.wait.total_seconds()):
                    answer = await run.answer(preferred)
            except TimeoutError:
                goes_on = run
                raise Overdue(f"the run {run.id} goes on; the history has its end") from None
        finally:
            if goes_on is None:
                self._leave(served.id)
            else:
                self.going_on.put_nowait((served.id, goes_on))
        if answer.status_code == _SUCCEEDED:
            return WebResult(run.id, answer)
        # Who calls need not be one who may see the code.
        if answer.status_code == _FAILED:
            raise RunFailed(f"the run {run.id} failed; the history has the reason")
        raise Unavailable(f"the run {run.id} could not be carried out; the history has the reason")

    async def _found(self, id: UUID, owner: RouteOwner) -> Served | None:
        try:
            if owner is RouteOwner.WEB_TRIGGER:
                trigger = await self._triggers.get(id)
                fixed = run_parameters(trigger.parameters)
                served = Served(id, self._actions, trigger.action_id, fixed, trigger.access, trigger.secret_hash)
                return served if trigger.is_enabled else None
            endpoint = await self._endpoints.get(id)
            return Served(id, self._notebooks, endpoint.notebook_id, (), endpoint.access, endpoint.secret_hash)
        except NotFound:
            return None

    async def _started(self, served: Served, request: WebRequest) -> AcceptedRun:
        script = await served.scripts.known(served.script_id)
        fixed = {each.name or "" for each in served.fixed}
        values = [*served.fixed, *parameters_of(request, script, fixed)]
        try:
            return await served.scripts.start(served.script_id, values, RunTrigger(TYPE, str(served.id)), SYSTEM)
        except Invalid as invalid:
            fields = {f"Parameters[{index}].ValueJson": each.name or "" for index, each in enumerate(values)}
            raise Invalid(FieldError(fields.get(e.field, ""), e.message) for e in invalid.errors) from None

    async def see_out(self, id: UUID, run: AcceptedRun) -> None:
        """Lets another run take its place once this one has ended."""
        try:
            await run.answer()
        finally:
            self._leave(id)

    def _leave(self, id: UUID) -> None:
        self._in_progress[id] -= 1
        if not self._in_progress[id]:
            del self._in_progress[id]
