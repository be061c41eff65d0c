"""One route: the calls of a subscription, or of nobody, to a version."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from email.utils import format_datetime
from typing import Any

from penstock.gateway.envoy.decompression import accepted, decompressing
from penstock.gateway.envoy.headers import added, merged
from penstock.gateway.envoy.hosts import asked_as
from penstock.gateway.envoy.limits import limited, limiting
from penstock.gateway.envoy.redirects import MARK, following
from penstock.gateway.envoy.retries import retrying
from penstock.gateway.envoy.typed import Json, seconds
from penstock.gateway.logged_call import RouteName
from penstock.protocol.gateway import GatewaySubscription, GatewayVersion

_REWRITES = ("prefix_rewrite", "regex_rewrite")
_HOST = "host"
_COOKIES = ("cookie", "set-cookie")


class VersionRoutes:
    """Routes of a version; what they have in common is made once.

    cluster: where they lead to. on_the_way: by filter, what looks at tokens, on routes of calls that show nothing else.
    """

    def __init__(self, version: GatewayVersion, cluster: str, on_the_way: Mapping[str, Json]) -> None:
        self._version = version
        self._on_the_way = on_the_way
        self._match = {"path_separated_prefix": version.path}
        self._filters = decompressing(version.connection.decompression)
        self._headers = merged(version.upstream.headers)
        self._action = self._leading_to(cluster, self._headers.pop(_HOST, None))
        self._accepted = accepted(version.connection.decompression)
        self._answer = _answer_headers(version)
        self._taken_off = () if version.connection.use_cookies else _COOKIES[:1]

    def subscribed(self, subscription: GatewaySubscription, shown: Sequence[str]) -> Json:
        """Calls of the subscription. shown: the headers that showed it, which the upstream doesn't see."""
        if subscription.spent_until is not None:
            return self._spent(subscription, subscription.spent_until)
        headers = merged(subscription.headers, self._headers)
        route = self._passing(subscription.name, headers, shown)
        if subscription.rate is None:
            return route
        return self._with_filters({**route, **limited(subscription)}, limiting())

    def open(self) -> Json:
        """Calls without a subscription, of a version that needs none."""
        return self._with_filters(self._passing(None, self._headers, ()), self._on_the_way)

    def denied(self, challenges: Iterable[str]) -> Json:
        """Calls that show no subscription."""
        route = self._answering(None, 401, "No subscription to this API was shown, or one that does not hold")
        route["response_headers_to_add"] = [_challenge(text) for text in challenges]
        # Filters are chosen by the first route, and kept when a token leads to another one.
        return self._with_filters(route, {**self._filters, **self._on_the_way})

    def forbidden(self) -> Json:
        """Calls with a token that holds, of nobody who has a subscription."""
        return self._answering(
            None, 403, "The token is valid, but what it claims goes with no subscription to this API"
        )

    def redirected(self, route: Json, match: Json) -> Json:
        """Where a redirect leads a call of the route: to the path that the upstream said."""
        action = {name: value for name, value in route["route"].items() if name not in _REWRITES}
        return {**route, "match": match, "route": action}

    def _passing(self, subscription: str | None, headers: Mapping[str, str], taken_off: Sequence[str]) -> Json:
        name = self._name(subscription)
        headers = {**headers, **self._accepted}
        if self._version.connection.allow_auto_redirect:
            headers[MARK] = name
        off = [*taken_off, *self._taken_off]
        return {
            "name": name,
            "match": self._match,
            "route": self._action,
            **({"request_headers_to_add": added(headers)} if headers else {}),
            **({"request_headers_to_remove": off} if off else {}),
            **({"typed_per_filter_config": self._filters} if self._filters else {}),
            **self._answer,
        }

    def _spent(self, subscription: GatewaySubscription, until: datetime) -> Json:
        route = self._answering(subscription.name, 429, "The quota of the subscription is used up")
        route["response_headers_to_add"] = added({"retry-after": format_datetime(until, usegmt=True)})
        return route

    def _answering(self, subscription: str | None, status: int, detail: str) -> Json:
        response = {"status": status, "body": {"inline_string": detail}}
        return {"name": self._name(subscription), "match": self._match, "direct_response": response}

    def _name(self, subscription: str | None) -> str:
        return str(RouteName(self._version.api, self._version.version, subscription))

    def _with_filters(self, route: Json, filters: Mapping[str, Json]) -> Json:
        chosen = {**route.get("typed_per_filter_config", {}), **filters}
        return {**route, "typed_per_filter_config": chosen} if chosen else route

    def _leading_to(self, cluster: str, host: str | None) -> Json:
        upstream = self._version.upstream
        host = host or asked_as(upstream)
        host_rewrite: dict[str, Any] = {"host_rewrite_literal": host} if host else {"auto_host_rewrite": True}
        return {
            "cluster": cluster,
            **_path_rewrite(self._version),
            "append_x_forwarded_host": True,
            # An answer may take as long as it keeps coming.
            "timeout": "0s",
            "idle_timeout": seconds(upstream.timeout_seconds),
            **host_rewrite,
            **retrying(upstream.retries),
            **(following() if self._version.connection.allow_auto_redirect else {}),
        }


def _path_rewrite(version: GatewayVersion) -> Json:
    """The version's path becomes the upstream's. Without one, the slash behind it would be there twice."""
    if version.upstream.path:
        return {"prefix_rewrite": version.upstream.path}
    return {"regex_rewrite": {"pattern": {"regex": f"^{re.escape(version.path)}/?"}, "substitution": "/"}}


def _answer_headers(version: GatewayVersion) -> Json:
    """Deprecation (RFC 9745), Sunset (RFC 8594); without cookies where the version wants none."""
    told = {}
    if version.deprecated is not None:
        told["deprecation"] = f"@{int(version.deprecated.timestamp())}"
    if version.sunset is not None:
        told["sunset"] = format_datetime(version.sunset, usegmt=True)
    return {
        **({"response_headers_to_add": added(told)} if told else {}),
        **({} if version.connection.use_cookies else {"response_headers_to_remove": [_COOKIES[1]]}),
    }


def _challenge(text: str) -> Json:
    return {"header": {"key": "www-authenticate", "value": text}, "append_action": "APPEND_IF_EXISTS_OR_ADD"}
