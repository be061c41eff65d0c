"""Requests that are tried again: as often as the version says, on another host where there is one."""

from penstock.gateway.envoy.typed import Json

_UNSENT = "connect-failure,refused-stream,reset-before-request"
_UNANSWERED = f"{_UNSENT},reset,retriable-status-codes"
_IDEMPOTENT = "GET|HEAD|OPTIONS|PUT|DELETE"
_OTHER_HOST = {
    "name": "other-host",
    "typed_config": {
        "@type": "type.googleapis.com/envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate"
    },
}


def retrying(retries: int) -> Json:
    """The part of an action for any method: again where the upstream can't have begun on the request."""
    return _policy(retries, _UNSENT) if retries else {}


def retrying_repeatable(retries: int) -> Json:
    """The part of an action for methods that may be repeated (RFC 9110): also after 503, or when the answer breaks."""
    return _policy(retries, _UNANSWERED) if retries else {}


def repeatable() -> Json:
    """What matches requests that may be repeated."""
    return {"name": ":method", "string_match": {"safe_regex": {"regex": _IDEMPOTENT}}}


def _policy(retries: int, retry_on: str) -> Json:
    return {
        "retry_policy": {
            "retry_on": retry_on,
            "num_retries": retries,
            "retriable_status_codes": [503],
            "retry_host_predicate": [_OTHER_HOST],
            "host_selection_retry_max_attempts": 3,
        }
    }
