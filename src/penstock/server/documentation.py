"""Interactive API documentation that needs nothing from outside: Swagger UI from its wheel."""

from importlib.resources import files

import msgspec
import swagger_ui

from penstock.kernel.errors import NotFound
from penstock.kernel.wire import encode
from penstock.resource.answer import File
from penstock.resource.operation import Answer, operation

_ASSETS = {
    "swagger-ui.css": "text/css",
    "swagger-ui-bundle.js": "text/javascript",
    "favicon-32x32.png": "image/png",
}
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Penstock API</title>
<link rel="icon" href="docs/favicon-32x32.png">
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<div id="page"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/page.js"></script>
</body>
</html>
"""
_SCRIPT = """SwaggerUIBundle({url: "openapi.json", dom_id: "#page", deepLinking: true, filter: true,
docExpansion: "none", persistAuthorization: false, validatorUrl: null});
"""


# Scripts of our own only, and no page of others around it that could make somebody click unawares.
_POLICY = (
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
_PROTECTION = (("content-security-policy", _POLICY), ("referrer-policy", "no-referrer"))
_CACHED = (("cache-control", "public, max-age=3600"),)


class Documentation:
    """Serves the OpenAPI document and a page that shows it and tries it out."""

    def __init__(self) -> None:
        self._document = b"{}"

    def publish(self, document: object) -> None:
        """Sets the OpenAPI document, once all operations are known."""
        self._document = msgspec.json.format(encode(document), indent=2)

    @operation("GET", "/openapi.json", beyond=True)
    async def openapi(self) -> File:
        """The OpenAPI 3.1 document of this API."""
        return File(self._document, "application/json")

    @operation("GET", "/docs", beyond=True)
    async def page(self) -> Answer:
        """This API, to read and to try out in a browser."""
        return Answer(200, _PAGE.encode(), "text/html; charset=utf-8", _PROTECTION)

    @operation("GET", "/docs/{asset}", beyond=True)
    async def asset(self, asset: str) -> Answer:
        """A script or style of the documentation page."""
        if asset == "page.js":
            return Answer(200, _SCRIPT.encode(), "text/javascript")
        if asset not in _ASSETS:
            raise NotFound.of("asset", asset)
        return Answer(200, (files(swagger_ui) / "static" / asset).read_bytes(), _ASSETS[asset], _CACHED)
