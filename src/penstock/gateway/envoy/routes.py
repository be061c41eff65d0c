"""All routes: by path to the version, by what the caller shows to the subscription.

Envoy looks each up in a map, so calls cost the same however many there are.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from penstock.gateway.envoy.access import (
    admitted,
    by_path,
    challenges,
    credential,
    holding,
    is_open,
    shown_by,
    told_by_tokens,
)
from penstock.gateway.envoy.clusters import cluster_name
from penstock.gateway.envoy.limits import ready_to_limit
from penstock.gateway.envoy.oidc import IssuerKeys, looking_at_tokens, requirement
from penstock.gateway.envoy.redirects import MARK, redirected_matches
from penstock.gateway.envoy.retries import repeatable, retrying_repeatable
from penstock.gateway.envoy.route import VersionRoutes
from penstock.gateway.envoy.typed import Json, typed
from penstock.protocol.gateway import Access, GatewaySubscription, GatewayTable, GatewayVersion

NAME = "routes"
_ROUTE = "envoy.config.route.v3."
_HEADER = "envoy.type.matcher.v3.HttpRequestHeaderMatchInput"
_PATH = ":path"
_CLIMBING = "/..;"
"""Dots with a parameter, which some servers take for a way out of the folder and Envoy does not."""


class Matches(NamedTuple):
    """What matches the calls of a version, as JSON. shown: by what callers show. marks: behind redirects, by mark."""

    shown: msgspec.Raw
    marks: Mapping[str, msgspec.Raw]


class KnownMatches:
    """Those of the last table, so that a change of one version is made for this one alone."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Any, Matches]] = {}

    def of(self, table: GatewayTable, keys: IssuerKeys) -> dict[str, Matches]:
        """By path. keys: what tokens are checked with."""
        listing = by_path(table.subscriptions)
        found = {each.path: self._of(each, listing.get(each.path, ()), keys) for each in table.versions}
        self._known = found
        return {path: matches for path, (_, matches) in found.items()}

    def _of(
        self, version: GatewayVersion, subscriptions: Sequence[GatewaySubscription], keys: IssuerKeys
    ) -> tuple[Any, Matches]:
        admitted_ones = admitted(version, subscriptions)
        asked = requirement(admitted_ones, keys)
        made_of = (version, admitted_ones, asked)
        known = self._known.get(version.path)
        return known if known is not None and known[0] == made_of else (made_of, _matches(*made_of))


def _matches(
    version: GatewayVersion, subscriptions: Sequence[GatewaySubscription], asked: tuple[str, Json] | None
) -> Matches:
    found = _Version(version, subscriptions, looking_at_tokens(asked[0]) if asked else {})
    return Matches(_raw(found.by_what_is_shown()), {name: _raw(action) for name, action in found.by_mark().items()})


def _raw(value: Json) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))


def route_configuration(matches: Mapping[str, Matches]) -> Json:
    """matches: of each version, by its path."""
    paths = {path: each.shown for path, each in matches.items()}
    marks = {name: action for each in matches.values() for name, action in each.marks.items()}
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

    def __init__(
        self, version: GatewayVersion, subscriptions: Sequence[GatewaySubscription], tokens: Mapping[str, Json]
    ) -> None:
        self._version = version
        self._subscriptions = subscriptions
        self._routes = VersionRoutes(version, cluster_name(version), self._on_the_way(tokens))
        self._told_by_tokens = told_by_tokens(subscriptions)

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
        routes = [self._subscribed(each, header) for each, header in self._first_shown()]
        if is_open(self._version):
            routes.append(self._routes.open())
        passing = [route for route in routes if "route" in route]
        return {each["name"]: _list([self._routes.redirected(each, match) for match in matches]) for each in passing}

    def _on_the_way(self, tokens: Mapping[str, Json]) -> Mapping[str, Json]:
        """By filter, what is at work on the route of a call whose token has not been looked at."""
        limited = tokens and any(each.rate for each in self._subscriptions if each.type is Access.OIDC)
        return {**tokens, **(ready_to_limit() if limited else {})}

    def _subscribed(self, subscription: GatewaySubscription, header: str) -> Json:
        told = self._told_by_tokens if subscription.type is Access.OIDC else ()
        return self._routes.subscribed(subscription, (credential(header), *told))

    def _by_header(self) -> dict[str, dict[str, Json]]:
        found: dict[str, dict[str, Json]] = {}
        for subscription in self._subscriptions:
            for header, value in shown_by(subscription):
                route = self._subscribed(subscription, header)
                found.setdefault(header, {}).setdefault(value, self._action(route))
        valid = dict(holding(self._subscriptions))
        # What a token claims comes before that it is valid, and both before that this is not enough.
        found = dict(sorted(found.items(), key=lambda entry: entry[0] in valid))
        refused = _action(self._routes.forbidden())
        return found | {header: {value: refused} for header, value in valid.items() if header not in found}

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


def _map(kind: str, header: str, values: Mapping[str, Any]) -> Json:
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
