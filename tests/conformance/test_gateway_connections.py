"""TLS to callers and upstreams, HTTP proxies, and bounds of connections, with a real Envoy."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from penstock.kernel.errors import Invalid
from penstock.protocol.gateway import Access
from tests.conformance.running_gateway import PATH, host, served, version
from tests.http_sink import HttpSink, Reply, http_sink

OPEN = (Access.NONE,)


def certified(folder: Path, name: str) -> Path:
    """A self-signed certificate of the name or address, with its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    named = x509.IPAddress(ip_address(name)) if name[0].isdigit() else x509.DNSName(name)
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([named]), critical=False)
        .sign(key, hashes.SHA256())
    )
    form = serialization.Encoding.PEM
    plain = key.private_bytes(form, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file = folder / f"{name}-{made.serial_number}.pem"
    file.write_bytes(plain + made.public_bytes(form))
    return file


@asynccontextmanager
async def https_sink(certificate: Path) -> AsyncIterator[HttpSink]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    sink = HttpSink()
    server = await asyncio.start_server(sink.serve, "127.0.0.1", 0, ssl=context)
    sink.port = server.sockets[0].getsockname()[1]
    try:
        yield sink
    finally:
        server.close()


class Proxy:
    """An HTTP proxy: tunnels, and answers whole addresses itself. lines: what it was asked for."""

    def __init__(self, port: int) -> None:
        self.lines: list[str] = []
        self.port = 0
        self._target = port

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            self.lines.append(head.partition("\r\n")[0])
            if not head.startswith("CONNECT"):
                writer.write(Reply(200, body=b"by the proxy").encode())
                return
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            inner, outer = await asyncio.open_connection("127.0.0.1", self._target)
            await asyncio.gather(_pass_on(reader, outer), _pass_on(inner, writer))
        finally:
            writer.close()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
    except ConnectionError:
        pass
    writer.close()


@asynccontextmanager
async def proxy_to(port: int) -> AsyncIterator[Proxy]:
    proxy = Proxy(port)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()


async def test_upstreams_must_show_a_certificate_of_their_name(tmp_path: Path) -> None:
    address, stranger = certified(tmp_path, "127.0.0.1"), certified(tmp_path, "127.0.0.1")
    named = certified(tmp_path, "localhost")
    authorities = tmp_path / "authorities.pem"
    authorities.write_bytes(address.read_bytes() + named.read_bytes())
    gateway = served(tmp_path / "envoy", AUTHORITIES=str(authorities))
    async with https_sink(address) as good, https_sink(stranger) as bad, https_sink(named) as other, gateway as running:
        by_name = version(path="/named/v1", access=OPEN, tls=True)
        by_name.upstream.hosts.append(host(other.port, "localhost"))
        await running.apply(
            [
                version(good.port, access=OPEN, tls=True),
                version(bad.port, path="/stranger/v1", access=OPEN, tls=True),
                version(other.port, path="/other-name/v1", access=OPEN, tls=True),
                by_name,
            ],
            [],
        )

        assert await running.status(PATH) == 204
        assert await running.status("/named/v1") == 204
        assert other.requests[-1].headers["host"] == f"localhost:{other.port}"
        for path in ("/stranger/v1", "/other-name/v1"):
            refused = await running.get(path)
            assert (refused.status_code, refused.json()["code"]) == (503, "unavailable")


async def test_callers_come_by_https_and_a_renewed_certificate_is_shown_without_a_restart(tmp_path: Path) -> None:
    first, second = certified(tmp_path, "127.0.0.1"), certified(tmp_path, "127.0.0.1")
    shown = tmp_path / "gateway.pem"
    shown.write_bytes(first.read_bytes())
    files = {"TLS_CERTIFICATE": str(shown), "TLS_KEY": str(shown)}
    async with http_sink() as upstream, served(tmp_path / "envoy", **files) as running:
        await running.apply([version(upstream.port, access=OPEN)], [])

        assert running.gateway.address.startswith("https://")
        assert await running.status(PATH) == 204
        assert upstream.requests[-1].headers["x-forwarded-proto"] == "https"

        renewed = tmp_path / "renewed.pem"
        renewed.write_bytes(second.read_bytes())
        renewed.rename(shown)

        wanted = x509.load_pem_x509_certificate(second.read_bytes()).serial_number
        port = int(running.gateway.address.rpartition(":")[2])
        async with asyncio.timeout(20):
            while await asyncio.to_thread(_serial_number, port) != wanted:
                await asyncio.sleep(0.05)


def _serial_number(port: int) -> int:
    return x509.load_pem_x509_certificate(ssl.get_server_certificate(("127.0.0.1", port)).encode()).serial_number


async def test_versions_that_use_the_proxy_go_through_it(tmp_path: Path) -> None:
    certificate = certified(tmp_path, "localhost")
    async with http_sink() as plain, https_sink(certificate) as secure, proxy_to(secure.port) as proxy:
        settings = {"PROXY": f"http://127.0.0.1:{proxy.port}", "AUTHORITIES": str(certificate)}
        async with served(tmp_path / "envoy", **settings) as running:
            tunnelled = version(path="/secure/v1", access=OPEN, tls=True, use_proxy=True)
            tunnelled.upstream.hosts.append(host(secure.port, "localhost"))
            far = version(path="/far/v1", access=OPEN, use_proxy=True)
            far.upstream.hosts.append(host(80, "known-to-the-proxy.invalid"))
            await running.apply(
                [
                    version(plain.port, access=OPEN, use_proxy=True),
                    version(plain.port, path="/direct/v1", access=OPEN),
                    tunnelled,
                    far,
                ],
                [],
            )

            assert (await running.get(f"{PATH}/a")).text == "by the proxy"
            assert (await running.get("/far/v1")).text == "by the proxy"
            assert proxy.lines.pop() == "GET http://known-to-the-proxy.invalid/ HTTP/1.1"
            assert proxy.lines == [f"GET http://127.0.0.1:{plain.port}/a HTTP/1.1"]
            assert await running.status("/direct/v1") == 204
            assert len(proxy.lines) == 1
            assert await running.status("/secure/v1") == 204
            assert proxy.lines[-1] == f"CONNECT localhost:{secure.port} HTTP/1.1"


async def test_connections_beyond_the_most_are_refused_and_others_go_on(tmp_path: Path) -> None:
    async with http_sink() as upstream, served(tmp_path / "envoy", CONNECTIONS="2") as running:
        await running.apply([version(upstream.port, access=OPEN)], [])
        assert await running.status(PATH) == 204
        port = int(running.gateway.address.rpartition(":")[2])
        others = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]

        ended: list[asyncio.StreamReader] = []
        for reader, _ in others:
            try:
                async with asyncio.timeout(0.5):
                    await reader.read()
                ended.append(reader)
            except TimeoutError:
                continue

        assert len(ended) == 2
        assert await running.status(PATH) == 204
        for _, writer in others:
            writer.close()


async def test_http_2_is_spoken_with_those_who_ask_for_it(tmp_path: Path) -> None:
    certificate = certified(tmp_path, "127.0.0.1")
    files = {"TLS_CERTIFICATE": str(certificate), "TLS_KEY": str(certificate)}
    async with http_sink() as upstream, served(tmp_path / "envoy", **files) as running:
        await running.apply([version(upstream.port, access=OPEN)], [])
        context = ssl.create_default_context(cafile=str(certificate))
        context.set_alpn_protocols(["h2"])
        port = int(running.gateway.address.rpartition(":")[2])

        _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)

        chosen = writer.get_extra_info("ssl_object")
        assert chosen.selected_alpn_protocol() == "h2"
        writer.close()


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"TLS_CERTIFICATE": "/nowhere.pem", "TLS_KEY": "/nowhere.pem"}, "TLS_CERTIFICATE"),
        ({"TLS_KEY": "/nowhere.pem"}, "TLS_KEY"),
        ({"PROXY": "proxy:3128"}, "PROXY"),
        ({"PROXY": "http://user:pass@proxy:3128"}, "PROXY"),
        ({"AUTHORITIES": "/nowhere.pem"}, "AUTHORITIES"),
        ({"HOST": "no such host"}, "HOST"),
    ],
)
async def test_a_bad_setting_is_named(tmp_path: Path, settings: dict[str, str], named: str) -> None:
    with pytest.raises(Invalid) as refused:
        async with served(tmp_path / "envoy", **settings):
            pass

    assert refused.value.errors[0].field == f"PENSTOCK_GATEWAY_{named}"
    assert "user:pass" not in str(refused.value)
