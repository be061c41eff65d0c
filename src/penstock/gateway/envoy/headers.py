"""Headers that routes put on requests and answers."""

from collections.abc import Mapping

from penstock.gateway.envoy.typed import Json


def added(headers: Mapping[str, str], action: str = "OVERWRITE_IF_EXISTS_OR_ADD") -> list[Json]:
    """In place of what the caller or the upstream sent under these names."""
    return [
        {
            # A percent sign begins one of Envoy's own placeholders.
            "header": {"key": name, "value": value.replace("%", "%%")},
            "append_action": action,
            **({} if value else {"keep_empty_value": True}),
        }
        for name, value in headers.items()
    ]


def merged(*sets: Mapping[str, str]) -> dict[str, str]:
    """All of them by their names in lower case; later sets win."""
    return {name.lower(): value for headers in sets for name, value in headers.items()}
