"""The hosts of an upstream as Envoy's endpoints."""

from collections.abc import Sequence
from ipaddress import ip_address

from penstock.gateway.envoy.typed import Json
from penstock.protocol.gateway import GatewayHost

_PORTS = {False: 80, True: 443}


def is_address(host: str) -> bool:
    """Whether it is an IP address, and no name."""
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def endpoints(name: str, hosts: Sequence[GatewayHost], tls: bool) -> Json:
    """A cluster's hosts. Each is asked under its own name, whatever name the caller used for the gateway."""
    return {"cluster_name": name, "endpoints": [{"lb_endpoints": [_endpoint(host, tls) for host in hosts]}]}


def authority(host: GatewayHost, tls: bool) -> str:
    """The host as requests name it."""
    name = f"[{host.host.strip('[]')}]" if ":" in host.host else host.host
    return name if host.port == _PORTS[tls] else f"{name}:{host.port}"


def _endpoint(host: GatewayHost, tls: bool) -> Json:
    address = {"address": host.host.strip("[]"), "port_value": host.port}
    return {"endpoint": {"hostname": authority(host, tls), "address": {"socket_address": address}}}
