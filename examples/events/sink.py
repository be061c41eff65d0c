"""Takes events on 127.0.0.1:9000 and prints those whose Standard Webhooks signature holds.

python3 sink.py [PORT]
"""
# ruff: noqa: S105, T201 - an example, with a secret of its own

import base64
import hashlib
import hmac
import json
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

SECRET = "whsec_cGVuc3RvY2sgc2lnbnMgd2hhdCBpdCBkZWxpdmVycw=="
TOLERANCE_SECONDS = 300


class Sink(BaseHTTPRequestHandler):
    """204 to what Penstock has signed, 401 to everything else."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        signed = self._is_signed(body)
        if signed:
            event = json.loads(body)
            print(event["id"], event["type"], event["data"], flush=True)
        self.send_response(204 if signed else 401)
        self.end_headers()

    def _is_signed(self, body: bytes) -> bool:
        id, timestamp = self.headers.get("webhook-id", ""), self.headers.get("webhook-timestamp", "0")
        key = base64.b64decode(SECRET.removeprefix("whsec_"))
        digest = hmac.digest(key, f"{id}.{timestamp}.".encode() + body, hashlib.sha256)
        wanted = f"v1,{base64.b64encode(digest).decode()}"
        given = self.headers.get("webhook-signature", "").split(" ")
        recent = abs(time.time() - int(timestamp)) < TOLERANCE_SECONDS
        return recent and any(hmac.compare_digest(wanted, each) for each in given)

    def log_message(self, format: str, *arguments: object) -> None:
        pass


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 9000
    HTTPServer(("127.0.0.1", port), Sink).serve_forever()
