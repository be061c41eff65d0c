"""The hosts of an upstream as Envoy's endpoints."""

from ipaddress import ip_address

from penstock.gateway.envoy.typed import Json
from penstock.protocol.gateway import GatewayHost, GatewayUpstream

_PORTS = {False: 80, True: 443}


def is_address(host: str) -> bool:
    """Whether it is an IP address, and no name."""
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def endpoints(name: str, upstream: GatewayUpstream, through: str | None = None) -> Json:
    """A cluster's hosts. through: the address of a proxy, which looks the names up itself."""
    found = [_endpoint(upstream, host, through or _bare(host)) for host in upstream.hosts]
    return {"cluster_name": name, "endpoints": [{"lb_endpoints": found}]}


def authority(host: GatewayHost, tls: bool) -> str:
    """The host as requests name it."""
    name = f"[{_bare(host)}]" if ":" in host.host else host.host
    return name if host.port == _PORTS[tls] else f"{name}:{host.port}"


def asked_as(upstream: GatewayUpstream) -> str | None:
    """How requests name the one host; None where there are several, each of which is named as itself."""
    return authority(upstream.hosts[0], upstream.tls) if len(upstream.hosts) == 1 else None


def _endpoint(upstream: GatewayUpstream, host: GatewayHost, address: str) -> Json:
    named = authority(host, upstream.tls)
    checked = {"health_check_config": {"hostname": named}} if upstream.health_path is not None else {}
    # The name that certificates and tunnels are asked for is one without a port.
    several = asked_as(upstream) is None and not upstream.tls
    socket_address = {"address": address, "port_value": host.port}
    return {
        "endpoint": {
            "hostname": named if several else _bare(host),
            "address": {"socket_address": socket_address},
            **checked,
        }
    }


def _bare(host: GatewayHost) -> str:
    return host.host.strip("[]")
