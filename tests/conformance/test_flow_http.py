"""`http`: requests of flows to a real server."""

import asyncio
import gzip
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from penstock.flow.parsing.parser import parse_flow
from penstock.flow.parsing.problem import InvalidFlow
from penstock.flow.surroundings import Reach
from penstock.flow.variables import Variable
from tests.conformance.flow_sources import once, route
from tests.conformance.running_engine import RunningEngine, running_engine
from tests.http_sink import HttpSink, Reply, http_sink


class Client:
    """An engine that may reach private addresses, and a server that takes its requests."""

    def __init__(self, running: RunningEngine, sink: HttpSink) -> None:
        self.running = running
        self.sink = sink
        self.address = f"127.0.0.1:{sink.port}"

    @property
    def messages(self) -> list[str]:
        return self.running.listener.messages

    async def run(self, *steps: str, body: str | None = None) -> None:
        """Takes one exchange through the steps; `ADDRESS` in them is the server's."""
        source = once(*steps, body=body).replace("ADDRESS", self.address)
        await self.running.start("client", source)
        await self.running.settled("client")


@asynccontextmanager
async def client(allow_private: bool = True, **reach: Any) -> AsyncIterator[Client]:
    variables = {"KEY": Variable("s3cret-key", is_secret=True)}
    reached = Reach(allow_private=allow_private, **reach)
    async with http_sink() as sink, running_engine(reach=reached, variables=variables) as running:
        yield Client(running, sink)


# The request


async def test_a_message_without_body_is_a_get_and_with_body_a_post() -> None:
    async with client() as http:
        await http.run("to: http://ADDRESS/a", "setBody: {constant: hello}", "to: http:ADDRESS/b")
        assert [(request.method, request.path, request.body) for request in http.sink.requests] == [
            ("GET", "/a", b""),
            ("POST", "/b", b"hello"),
        ]


async def test_a_query_makes_it_a_get_whatever_the_body() -> None:
    async with client() as http:
        await http.run("to: http://ADDRESS/a?x=1", body="hello")
        assert [(request.method, request.path, request.body) for request in http.sink.requests] == [
            ("GET", "/a?x=1", b"")
        ]


async def test_the_header_says_which_method_unless_the_endpoint_does() -> None:
    async with client() as http:
        method = "setHeader: {name: CamelHttpMethod, constant: PUT}"
        await http.run(method, "to: http://ADDRESS/a", method, "to: http://ADDRESS/b?httpMethod=DELETE", body="hello")
        assert [(request.method, request.body) for request in http.sink.requests] == [
            ("PUT", b"hello"),
            ("DELETE", b""),
        ]


async def test_headers_change_uri_path_and_query() -> None:
    async with client() as http:
        await http.run(
            "setHeader: {name: CamelHttpUri, constant: 'http://ADDRESS/other'}",
            "setHeader: {name: CamelHttpPath, constant: '/deep/er'}",
            "setHeader: {name: CamelHttpQuery, constant: 'q=a b'}",
            "to: http://nowhere.invalid/a",
        )
        assert http.sink.requests[0].path == "/other/deep/er?q=a%20b"


async def test_a_bridge_ignores_the_uri_that_the_message_came_by() -> None:
    async with client() as http:
        await http.run(
            "setHeader: {name: CamelHttpUri, constant: '/in'}",
            "setHeader: {name: CamelHttpPath, constant: '/in'}",
            "to: http://ADDRESS/base?bridgeEndpoint=true",
        )
        assert http.sink.requests[0].path == "/base/in"


async def test_a_message_that_came_over_http_is_told_what_is_missing_without_a_bridge() -> None:
    async with client() as http:
        await http.run("setHeader: {name: CamelHttpUri, constant: '/in'}", "to: http://ADDRESS/base")
        assert "set bridgeEndpoint=true, or remove the headers CamelHttp* first" in http.messages[0]


async def test_options_that_are_not_the_components_are_parameters_of_the_query() -> None:
    async with client() as http:
        await http.run("to: {uri: 'http://ADDRESS/a?page=2', parameters: {throwExceptionOnFailure: false, size: 7}}")
        assert http.sink.requests[0].path == "/a?page=2&size=7"


async def test_headers_go_along_but_camels_own_and_those_of_one_connection() -> None:
    async with client() as http:
        await http.run(
            "setHeader: {name: X-Mine, constant: mine}",
            "setHeader: {name: Content-Type, constant: application/json}",
            "setHeader: {name: CamelThing, constant: hidden}",
            "setHeader: {name: Host, constant: example.org}",
            "setHeader: {name: Content-Length, constant: '99'}",
            "to: http://ADDRESS/a",
            body="{}",
        )
        headers = http.sink.requests[0].headers
        assert (headers["x-mine"], headers["content-type"]) == ("mine", "application/json")
        assert (headers["host"], headers["content-length"]) == (http.address, "2")
        assert "camelthing" not in headers


async def test_a_header_cannot_smuggle_in_another() -> None:
    async with client() as http:
        await http.run("setHeader: {name: X-Mine, simple: 'a\\r\\nX-Evil: b'}", "to: http://ADDRESS/a")
        assert http.sink.requests[0].headers["x-mine"] == "a  X-Evil: b"
        assert "x-evil" not in http.sink.requests[0].headers


async def test_credentials_come_from_secret_variables_and_never_show() -> None:
    async with client() as http:
        http.sink.answer = lambda request: Reply(401)
        await http.run(
            "to: {uri: 'http://ADDRESS/a', parameters: {authMethod: Bearer, authBearerToken: '{{var:KEY}}'}}"
        )
        assert http.sink.requests[0].headers["authorization"] == "Bearer s3cret-key"
        assert "s3cret-key" not in "".join(http.messages)


async def test_a_secret_in_the_address_is_masked_when_the_request_fails() -> None:
    async with client() as http:
        http.sink.answer = lambda request: Reply(500)
        await http.run("to: 'http://ADDRESS/{{var:KEY}}/a?key={{var:KEY}}'")
        assert http.sink.requests[0].path == "/s3cret-key/a?key=s3cret-key"
        assert http.messages == [
            f"Exchange failed: HTTP operation failed invoking http://{http.address}/******/a with statusCode: 500"
        ]


# The answer


async def test_the_answer_becomes_the_message() -> None:
    async with client() as http:
        http.sink.answer = lambda request: Reply(201, {"Content-Type": "text/plain", "X-Theirs": "t"}, b"answer")
        await http.run(
            "setHeader: {name: X-Mine, constant: mine}",
            "to: http://ADDRESS/a",
            "log: '${body} ${header.CamelHttpResponseCode} ${header.X-Theirs} ${header.X-Mine} ${header.Content-Type}'",
        )
        assert http.messages == ["answer 201 t mine text/plain"]


async def test_a_text_is_read_by_the_charset_that_its_type_names() -> None:
    async with client() as http:
        http.sink.answer = lambda request: Reply(
            200, {"Content-Type": "text/plain; charset=iso-8859-1"}, "grün".encode("latin-1")
        )
        await http.run("to: http://ADDRESS/a", "log: '${body}'")
        assert http.messages == ["grün"]


async def test_an_answer_that_is_packed_is_unpacked() -> None:
    async with client() as http:
        http.sink.answer = lambda request: Reply(200, {"Content-Encoding": "gzip"}, gzip.compress(b"packed"))
        await http.run("to: http://ADDRESS/a", "log: '${body}${header.Content-Encoding}'")
        assert http.messages == ["packed"]


async def test_a_status_that_is_not_success_fails_the_exchange() -> None:
    async with client() as http:
        http.sink.answer = lambda request: Reply(404)
        await http.run("to: http://ADDRESS/a", "log: never")
        assert http.messages == [
            f"Exchange failed: HTTP operation failed invoking http://{http.address}/a with statusCode: 404"
        ]


async def test_a_status_may_be_taken_as_it_is() -> None:
    async with client() as http:
        http.sink.answer = lambda request: Reply(404, {}, b"gone")
        log = "log: '${header.CamelHttpResponseCode} ${body}'"
        await http.run(
            "to: http://ADDRESS/a?throwExceptionOnFailure=false",
            log,
            "to: http://ADDRESS/a?okStatusCodeRange=200,404",
            log,
        )
        assert http.messages == ["404 gone", "404 gone"]


async def test_a_redirect_is_not_followed() -> None:
    async with client() as http:
        http.sink.answer = lambda request: Reply(302, {"Location": f"http://{http.address}/b"})
        await http.run("to: http://ADDRESS/a")
        assert [request.path for request in http.sink.requests] == ["/a"]
        assert http.messages[0].endswith("with statusCode: 302")


async def test_an_answer_over_the_limit_fails() -> None:
    async with client(most=100) as http:
        http.sink.answer = lambda request: Reply(200, {}, b"x" * 200)
        await http.run("to: http://ADDRESS/a")
        assert http.messages == ["Exchange failed: 127.0.0.1 answered more than 100 bytes"]


async def test_a_server_that_is_silent_is_waited_for_no_longer_than_the_flow_says() -> None:
    async with client() as http:
        http.sink.answer = lambda request: Reply(200, pause=60)
        await http.run("to: http://ADDRESS/a?responseTimeout=100")
        assert http.messages == ["Exchange failed: 127.0.0.1 did not answer within 0.1 s"]


async def test_a_server_that_is_not_there_fails_the_exchange() -> None:
    async with client() as http:
        await http.run("to: http://127.0.0.1:1/a")
        assert http.messages == ["Exchange failed: 127.0.0.1 cannot be reached: Connection refused"]


# Where flows may go


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1:{port}",
        "localhost:{port}",
        "[::1]:{port}",
        "127.1:{port}",
        "169.254.169.254",
        "[::ffff:127.0.0.1]:{port}",
    ],
)
async def test_private_addresses_are_refused_unless_the_agent_allows_them(address: str) -> None:
    async with client(allow_private=False) as http:
        await http.run(f"to: 'http://{address.format(port=http.sink.port)}/a'")
        assert "is in a private, loopback, link-local or reserved range" in http.messages[0]
        assert http.sink.connections == 0


async def test_a_message_cannot_lead_to_a_private_address_either() -> None:
    async with client(allow_private=False) as http:
        await http.run("setHeader: {name: CamelHttpUri, constant: 'http://ADDRESS/a'}", "to: http://example.com/")
        assert "is in a private" in http.messages[0]
        assert http.sink.connections == 0


def test_an_option_that_camel_has_and_this_engine_lacks_is_named_and_not_sent() -> None:
    with pytest.raises(InvalidFlow, match="'followRedirects' is not known"):
        parse_flow("f", "1", route("timer:t", "to: http://example.com/a?followRedirects=true"))


async def test_https_refuses_a_certificate_that_nobody_vouches_for(tmp_path: Path) -> None:
    async with client() as http, encrypted_server(tmp_path) as port:
        await http.run(f"to: https://localhost:{port}/a")
        assert "certificate" in http.messages[0].lower()


@asynccontextmanager
async def encrypted_server(folder: Path) -> AsyncIterator[int]:
    """A server with a certificate of its own making; gives its port."""
    certificate = folder / "certificate.pem"
    certificate.write_bytes(self_signed())
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)

    async def close(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await asyncio.start_server(close, "localhost", 0, ssl=context)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


def self_signed() -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now)
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    form = serialization.Encoding.PEM
    plain = serialization.NoEncryption()
    return key.private_bytes(form, serialization.PrivateFormat.PKCS8, plain) + made.public_bytes(form)
