"""The application whose requests are measured: bare under uvicorn, and as a package that Penstock hosts."""

import sys

BODY = b'{"watts":40}' * 8


async def application(scope, receive, send):  # type: ignore[no-untyped-def]
    """Answers about 100 bytes of JSON, and WebSockets with what they say."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        while (message := await receive())["type"] == "websocket.receive":
            await send({"type": "websocket.send", "bytes": message["bytes"]})
        return
    if scope["type"] != "http":
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})
        return
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(BODY)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": BODY})


def bench(configuration):  # type: ignore[no-untyped-def]
    """Answers the same to everybody."""
    return application


if __name__ == "__main__":
    import uvicorn

    uvicorn.run(application, port=int(sys.argv[1]), log_level="error", access_log=False)
