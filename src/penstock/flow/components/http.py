"""`http:ADDRESS`: a request to an HTTP server."""

from base64 import b64encode
from datetime import timedelta
from enum import StrEnum
from typing import Annotated, ClassVar

from msgspec import Meta

from penstock.egress.guarded_http import HttpAnswer, HttpFailed, HttpPatience
from penstock.flow.body import body_of, bytes_of, charset_of
from penstock.flow.component import Producer
from penstock.flow.context import FlowContext
from penstock.flow.exchange import Exchange, text_of
from penstock.flow.failures.errors import FlowError
from penstock.flow.headers import Headers
from penstock.flow.http.http_headers import outgoing, outlasts_answer, take_in
from penstock.flow.http.http_request import HttpMethod, HttpTarget, has_body, shown
from penstock.flow.http.status_range import StatusRange
from penstock.flow.parsing.extra_options import ExtraOptions
from penstock.flow.period import Period
from penstock.flow.text import Text


class HttpOperationFailed(FlowError):
    """The server answered with a status that is not success. status, body, headers: the answer's."""

    code = "http-operation-failed"
    title = "The HTTP request was answered with an error"
    java = (
        "org.apache.camel.http.base.HttpOperationFailedException",
        "org.apache.camel.CamelException",
    )

    def __init__(self, url: str, answer: HttpAnswer) -> None:
        super().__init__(f"HTTP operation failed invoking {shown(url)} with statusCode: {answer.status}")
        self.status = answer.status
        self.body = body_of(answer.body, answer.headers.get("content-type", ""))
        self.headers = dict(answer.fields)


class HttpRequestFailed(FlowError):
    """No answer came."""

    code = "http-request-failed"
    title = "The HTTP request failed"
    java = (
        "java.net.ConnectException",
        "java.net.SocketTimeoutException",
        "java.net.SocketException",
        "java.net.UnknownHostException",
        "java.io.IOException",
    )


_LACKING = """
authDomain authenticationPreemptive authHost bridgeErrorHandler clearExpiredCookies clientBuilder
clientConnectionManager connectionRequestTimeout connectionsPerRoute contentTypeCharsetEnabled cookieHandler
cookieStore customHostHeader disableStreamCache exceptionHandler followRedirects headerFilterStrategy
httpActivityListener httpBinding httpClientConfigurer httpClientOptions httpConnectionOptions httpContext
lazyStartProducer logHttpActivity maxTotalConnections multipartUpload multipartUploadName oauth2BodyAuthentication
oauth2CacheTokens oauth2CachedTokensDefaultExpirySeconds oauth2CachedTokensExpirationMarginSeconds oauth2ClientId
oauth2ClientSecret oauth2ResourceIndicator oauth2Scope oauth2TokenEndpoint oauthProfile preserveHostHeader
proxyAuthDomain proxyAuthHost proxyAuthMethod proxyAuthNtHost proxyAuthPassword proxyAuthPort proxyAuthScheme
proxyAuthUsername proxyHost proxyPort skipControlHeaders sslContextParameters transferException useSystemProperties
userAgent x509HostnameVerifier
"""


class AuthMethod(StrEnum):
    """How the client says who it is."""

    BASIC = "Basic"
    BEARER = "Bearer"


class Http(Producer, frozen=True, kw_only=True):
    """Sends the message as a request, and makes the answer the message.

    CamelHttpMethod, CamelHttpUri, CamelHttpPath and CamelHttpQuery say what to ask for. Sets CamelHttpResponseCode and
    CamelHttpResponseText. Headers go along, save those that begin with `Camel`. Options that are not listed are sent
    as parameters of the query. Redirects are not followed.
    """

    element = "http"
    path = "httpUri"
    lacking = frozenset(_LACKING.split())

    http_uri: Annotated[Text, Meta(description="Address, with or without its scheme.")]
    http_method: Annotated[
        HttpMethod | None,
        Meta(description="Method. When absent: CamelHttpMethod, else GET with a query or without a body, else POST."),
    ] = None
    bridge_endpoint: Annotated[bool, Meta(description="Ignores CamelHttpUri, for messages that came in over HTTP.")] = (
        False
    )
    throw_exception_on_failure: Annotated[bool, Meta(description="Fails when the status is not in the range.")] = True
    ok_status_code_range: Annotated[StatusRange, Meta(description="Statuses of success, like 200-299,404.")] = (
        StatusRange.parse("200-299")
    )
    connect_timeout: Annotated[Period, Meta(description="Time to connect. 0: without end.")] = Period(minutes=3)
    so_timeout: Annotated[Period, Meta(description="Time between two pieces of an answer. 0: without end.")] = Period(
        minutes=3
    )
    response_timeout: Annotated[Period, Meta(description="Time for the whole request. 0: without end.")] = Period()
    auth_method: Annotated[AuthMethod | None, Meta(description="How to authenticate; sent with each request.")] = None
    auth_username: Annotated[Text | None, Meta(description="User name.")] = None
    auth_password: Annotated[Text | None, Meta(description="Password.")] = None
    auth_bearer_token: Annotated[Text | None, Meta(description="Token for Bearer.")] = None
    skip_request_headers: Annotated[bool, Meta(description="Sends no header of the message.")] = False
    skip_response_headers: Annotated[bool, Meta(description="Takes no header of the answer.")] = False
    copy_headers: Annotated[bool, Meta(description="Keeps the headers that the message had.")] = True
    ignore_response_body: Annotated[bool, Meta(description="Leaves the body empty.")] = False
    get_with_body: Annotated[bool, Meta(description="Sends the body with GET.")] = False
    delete_with_body: Annotated[bool, Meta(description="Sends the body with DELETE.")] = False
    connection_close: Annotated[bool, Meta(description="Closes the connection after the answer.")] = False
    query: Annotated[ExtraOptions, Meta(description="Options that are not listed.")] = ExtraOptions()

    scheme: ClassVar[str] = "http"

    async def send(self, exchange: Exchange, flow: FlowContext) -> None:
        target = await self._target(flow)
        url, method = target.address(exchange), target.method_for(exchange)
        try:
            answer = await flow.surroundings.http.request(
                method,
                url,
                headers=await self._headers(exchange, method, flow),
                body=self._body(exchange, method),
                timeout=self._patience(),
                most=flow.surroundings.most,
            )
        except HttpFailed as error:
            raise HttpRequestFailed(error.detail) from None
        if self.throw_exception_on_failure and not self.ok_status_code_range.has(answer.status):
            _take_status(exchange, answer)  # Camel tells it then, too
            raise HttpOperationFailed(url, answer)
        self._take(exchange, answer)

    async def _target(self, flow: FlowContext) -> HttpTarget:
        address = await self.http_uri.resolve(flow.variables)
        url = address if address.startswith(("http://", "https://")) else f"{self.scheme}://{address}"
        extra = [(name, await value.resolve(flow.variables)) for name, value in self.query]
        return HttpTarget(url, extra, self.http_method, self.bridge_endpoint)

    async def _headers(self, exchange: Exchange, method: HttpMethod, flow: FlowContext) -> dict[str, str]:
        sent: dict[str, str] = {}
        if not self.skip_request_headers:
            for name, values in outgoing(exchange.headers):
                sent[name] = values[0] if len(values) == 1 else f"[{', '.join(values)}]"
        content_type = exchange.headers.get("Content-Type")
        if content_type is not None and self._sends_body(method):
            sent["Content-Type"] = text_of(content_type)
        if self.connection_close:
            sent["Connection"] = "close"
        credentials = await self._credentials(flow)
        return {**sent, "Authorization": credentials} if credentials else sent

    async def _credentials(self, flow: FlowContext) -> str:
        async def value(text: Text | None) -> str:
            return await text.resolve(flow.variables) if text is not None else ""

        if self.auth_method is AuthMethod.BASIC:
            user, password = await value(self.auth_username), await value(self.auth_password)
            return f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"
        if self.auth_method is AuthMethod.BEARER:
            return f"Bearer {await value(self.auth_bearer_token)}"
        return ""

    def _body(self, exchange: Exchange, method: HttpMethod) -> bytes:
        if not self._sends_body(method):
            return b""
        return bytes_of(exchange.body, charset_of(text_of(exchange.headers.get("Content-Type"))))

    def _sends_body(self, method: HttpMethod) -> bool:
        return (
            has_body(method)
            or (self.get_with_body and method is HttpMethod.GET)
            or (self.delete_with_body and method is HttpMethod.DELETE)
        )

    def _patience(self) -> HttpPatience:
        def seconds(period: timedelta) -> float | None:
            return period.total_seconds() or None

        return HttpPatience(seconds(self.response_timeout), seconds(self.connect_timeout), seconds(self.so_timeout))

    def _take(self, exchange: Exchange, answer: HttpAnswer) -> None:
        """Makes the answer the message; headers of before stay when they are not of HTTP and did not come anew."""
        before = exchange.headers
        exchange.headers = Headers()
        _take_status(exchange, answer)
        if not self.skip_response_headers:
            take_in(_unpacked(answer), exchange.headers)
        if self.copy_headers:
            for name, value in before.items():
                if name not in exchange.headers and outlasts_answer(name):
                    exchange.headers[name] = value
        content_type = answer.headers.get("content-type", "")
        exchange.body = None if self.ignore_response_body else body_of(answer.body, content_type)


def _take_status(exchange: Exchange, answer: HttpAnswer) -> None:
    exchange.headers["CamelHttpResponseCode"] = answer.status
    if answer.reason:
        exchange.headers["CamelHttpResponseText"] = answer.reason


def _unpacked(answer: HttpAnswer) -> list[tuple[str, str]]:
    """The headers of the body as it is now, after the client has unpacked it."""
    gone = ("content-encoding", "content-length") if "content-encoding" in answer.headers else ()
    named = {"content-type": "Content-Type"}
    return [(named.get(name.lower(), name), value) for name, value in answer.fields if name.lower() not in gone]
