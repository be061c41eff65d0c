"""Answers that are decompressed on their way, for callers who get them plain."""

from enum import IntFlag

from penstock.gateway.envoy.typed import Json, extension, typed


class Compression(IntFlag):
    """As in DecompressionMethods. Envoy cannot read deflate, so upstreams are not offered it."""

    GZIP = 1
    BROTLI = 4


_CODINGS = {Compression.GZIP: "gzip", Compression.BROTLI: "br"}
_LIBRARIES = {
    Compression.GZIP: "envoy.extensions.compression.gzip.decompressor.v3.Gzip",
    Compression.BROTLI: "envoy.extensions.compression.brotli.decompressor.v3.Brotli",
}
_FILTER = "envoy.extensions.filters.http.decompressor.v3.Decompressor"
_ON = typed("envoy.config.route.v3.FilterConfig", config={})
_NEVER = {"common_config": {"enabled": {"default_value": False, "runtime_key": "gateway.decompress_requests"}}}


def decompression_filters() -> list[Json]:
    """One filter for each compression, at work where a route says so."""
    return [
        {
            **extension(
                _name(each),
                _FILTER,
                decompressor_library=extension(_CODINGS[each], _LIBRARIES[each]),
                request_direction_config={**_NEVER, "advertise_accept_encoding": False},
            ),
            "disabled": True,
        }
        for each in Compression
    ]


def decompressing(methods: int) -> Json:
    """By filter, what switches it on for a route. methods: as DecompressionMethods."""
    return {_name(each): _ON for each in _chosen(methods)}


def accepted(methods: int) -> dict[str, str]:
    """The header that says what the upstream may answer with; none where nothing is decompressed."""
    codings = ", ".join(_CODINGS[each] for each in _chosen(methods))
    return {"accept-encoding": codings} if codings else {}


def _chosen(methods: int) -> list[Compression]:
    return [each for each in Compression if methods & each]


def _name(compression: Compression) -> str:
    return f"decompress-{_CODINGS[compression]}"
