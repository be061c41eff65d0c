"""All routes: by path to the version, by what the caller shows to the subscription.

Envoy looks each up in a map, so calls cost the same however many there are.
"""

from collections.abc import Iterable, Mapping, Sequence

from penstock.gateway.envoy.access import admitted, by_path, challenges, credential, holding, is_open, shown_by
from penstock.gateway.envoy.clusters import cluster_name
from penstock.gateway.envoy.oidc import IssuerKeys, looking_at_tokens, requirement
from penstock.gateway.envoy.redirects import MARK, redirected_matches
from penstock.gateway.envoy.retries import repeatable, retrying_repeatable
from penstock.gateway.envoy.route import VersionRoutes
from penstock.gateway.envoy.typed import Json, typed
from penstock.protocol.gateway import GatewaySubscription, GatewayTable, GatewayVersion

NAME = "routes"
_ROUTE = "envoy.config.route.v3."
_HEADER = "envoy.type.matcher.v3.HttpRequestHeaderMatchInput"
_PATH = ":path"
_CLIMBING = "/..;"
"""Dots with a parameter, which some servers take for a way out of the folder and Envoy does not."""


def route_configuration(table: GatewayTable, keys: IssuerKeys) -> Json:
    """keys: what tokens are checked with."""
    listing = by_path(table.subscriptions)
    versions = {each.path: _Version(each, listing.get(each.path, ()), keys) for each in table.versions}
    paths = {path: each.by_what_is_shown() for path, each in versions.items()}
    marks = {name: action for each in versions.values() for name, action in each.by_mark().items()}
    found = _behind(_map("prefix_match_map", _PATH, paths), _NOWHERE)
    found = _behind(_map("exact_match_map", MARK, marks), found)
    climbing = _rule(_PATH, {"contains": _CLIMBING}, _CLIMBING_REFUSED)
    return typed(
        _ROUTE + "RouteConfiguration",
        name=NAME,
        virtual_hosts=[
            {
                "name": "all",
                "domains": ["*"],
                "matcher": {"matcher_list": {"matchers": [climbing]}, "on_no_match": found},
            }
        ],
        request_headers_to_remove=["x-envoy-external-address"],
        response_headers_to_remove=["x-envoy-upstream-service-time"],
    )


class _Version:
    """What matches the calls of one version."""

    def __init__(self, version: GatewayVersion, subscriptions: Sequence[GatewaySubscription], keys: IssuerKeys) -> None:
        self._version = version
        self._subscriptions = admitted(version, subscriptions)
        asked = requirement(self._subscriptions, keys)
        self._routes = VersionRoutes(version, cluster_name(version), looking_at_tokens(asked[0]) if asked else {})

    def by_what_is_shown(self) -> Json:
        """One map for each header, one behind the other; then nothing was shown."""
        outcome = self._nothing_shown()
        for header, actions in reversed(self._by_header().items()):
            outcome = _behind(_map("exact_match_map", header, actions), outcome)
        return outcome

    def by_mark(self) -> Mapping[str, Json]:
        """By the mark of the route that a call took, where redirects of the upstream may lead it."""
        if not self._version.connection.allow_auto_redirect:
            return {}
        matches = redirected_matches(self._version.upstream)
        routes = [self._routes.subscribed(each, credential(header)) for each, header in self._first_shown()]
        if is_open(self._version):
            routes.append(self._routes.open())
        passing = [route for route in routes if "route" in route]
        return {each["name"]: _list([self._routes.redirected(each, match) for match in matches]) for each in passing}

    def _by_header(self) -> dict[str, dict[str, Json]]:
        found: dict[str, dict[str, Json]] = {}
        for subscription in self._subscriptions:
            for header, value in shown_by(subscription):
                route = self._routes.subscribed(subscription, credential(header))
                found.setdefault(header, {}).setdefault(value, self._action(route))
        for header, value in holding(self._subscriptions):
            found.setdefault(header, {}).setdefault(value, _action(self._routes.forbidden()))
            found[header] = found.pop(header)  # behind the claims
        return found

    def _first_shown(self) -> list[tuple[GatewaySubscription, str]]:
        return [(each, shown[0].header) for each in self._subscriptions if (shown := shown_by(each))]

    def _nothing_shown(self) -> Json:
        if is_open(self._version):
            return self._action(self._routes.open())
        return _action(self._routes.denied(challenges(self._version, self._subscriptions)))

    def _action(self, route: Json) -> Json:
        """With retries, requests that may be repeated have a route of their own."""
        retries = self._version.upstream.retries
        if not retries or "route" not in route:
            return _action(route)
        match = {**route["match"], "headers": [repeatable()]}
        action = {**route["route"], **retrying_repeatable(retries)}
        return _list([{**route, "match": match, "route": action}, route])


def _map(kind: str, header: str, values: Mapping[str, Json]) -> Json:
    return {"matcher_tree": {"input": _header(header), kind: {"map": dict(values)}}} if values else {}


def _behind(tree: Json, otherwise: Json) -> Json:
    """What matches in the tree, else something else."""
    return {"matcher": {**tree, "on_no_match": otherwise}} if tree else otherwise


def _rule(header: str, value: Json, on_match: Json) -> Json:
    predicate = {"single_predicate": {"input": _header(header), "value_match": value}}
    return {"predicate": predicate, "on_match": on_match}


def _header(name: str) -> Json:
    return {"name": "header", "typed_config": typed(_HEADER, header_name=name)}


def _action(route: Json) -> Json:
    return {"action": {"name": "route", "typed_config": typed(_ROUTE + "Route", **route)}}


def _list(routes: Iterable[Json]) -> Json:
    return {"action": {"name": "routes", "typed_config": typed(_ROUTE + "RouteList", routes=list(routes))}}


def _answering(status: int, detail: str) -> Json:
    response = {"status": status, "body": {"inline_string": detail}}
    return _action({"match": {"prefix": "/"}, "direct_response": response})


_NOWHERE = _answering(404, "No API has this path")
_CLIMBING_REFUSED = _answering(400, "The path has segments of dots with parameters")
