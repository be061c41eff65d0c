"""TLS to upstreams, whose certificates are checked, and to callers, whose certificate files may be renewed."""

import ssl
from collections.abc import Sequence
from pathlib import Path

import certifi

from penstock.gateway.envoy.hosts import is_address
from penstock.gateway.envoy.typed import Json, extension, typed
from penstock.protocol.gateway import GatewayHost

_UPSTREAM = "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext"
_DOWNSTREAM = "envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext"
_CERTIFICATE = "envoy.extensions.transport_sockets.tls.v3.Secret"
CERTIFICATE = "certificate"


def trusted_authorities(file: str) -> str:
    """Whose certificates hold. file: a setting; empty: the system's, else the ones that come with Python's packages."""
    return file or ssl.get_default_verify_paths().cafile or certifi.where()


def tls_to(hosts: Sequence[GatewayHost], authorities: str) -> Json:
    """A connection to one of the hosts, which must show a certificate of its name."""
    names = {host.host.strip("[]") for host in hosts}
    checked: Json = {"trusted_ca": {"filename": authorities}}
    context: Json = {"common_tls_context": {"validation_context": checked}}
    if len(names) == 1:
        name = names.pop()
        kind = "IP_ADDRESS" if is_address(name) else "DNS"
        checked["match_typed_subject_alt_names"] = [{"san_type": kind, "matcher": {"exact": name}}]
        context |= {} if is_address(name) else {"sni": name}
    else:
        context |= {"auto_host_sni": True, "auto_sni_san_validation": True}
    return extension("tls", _UPSTREAM, **context)


def tls_from_callers(folder: Path) -> Json:
    """folder: with the file that says where the certificate is."""
    certificate = {"name": CERTIFICATE, "sds_config": {"path_config_source": {"path": str(folder)}}}
    common = {"alpn_protocols": ["h2", "http/1.1"], "tls_certificate_sds_secret_configs": [certificate]}
    return extension("tls", _DOWNSTREAM, common_tls_context=common)


def certificate_secret(certificate: Path, key: Path) -> Json:
    """Read again whenever something is moved into the certificate's folder."""
    return typed(
        _CERTIFICATE,
        name=CERTIFICATE,
        tls_certificate={
            "certificate_chain": {"filename": str(certificate)},
            "private_key": {"filename": str(key)},
            "watched_directory": {"path": str(certificate.parent)},
        },
    )
