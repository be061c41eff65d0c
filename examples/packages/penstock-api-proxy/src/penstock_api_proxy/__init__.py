"""An API described by an OpenAPI document, passed on."""

from penstock_api_proxy.application import proxy

__all__ = ["proxy"]
