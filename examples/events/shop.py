"""Sends an order to the webhook `shop`, signed as Standard Webhooks specifies it.

python3 shop.py ID AMOUNT [ADDRESS]
"""
# ruff: noqa: S105, S310, T201 - an example, with a secret of its own

import base64
import hashlib
import hmac
import json
import sys
import time
import urllib.error
import urllib.request

SECRET = "whsec_dGhlIHNob3Agc2lnbnMgZXZlcnkgb3JkZXIgaXQgc2VuZHM="


def send(order: str, amount: int, address: str) -> str:
    """The answer of the webhook."""
    body = json.dumps({"order": order, "amount": amount}).encode()
    id, timestamp = f"order-{order}", str(int(time.time()))
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    digest = hmac.digest(key, f"{id}.{timestamp}.".encode() + body, hashlib.sha256)
    headers = {
        "Content-Type": "application/json",
        "webhook-id": id,
        "webhook-timestamp": timestamp,
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }
    request = urllib.request.Request(f"{address}/webhooks/shop", body, headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return f"{answer.status} {answer.read().decode()}"
    except urllib.error.HTTPError as refused:
        return f"{refused.code} {refused.read().decode()}"


if __name__ == "__main__":
    order, amount, *address = sys.argv[1:]
    print(send(order, int(amount), address[0] if address else "http://127.0.0.1:8400"))
