"""What a flow did, in a form that can be compared."""

from pathlib import Path

import httpx
import msgspec

from tests.differential.case import Case, Request

# Of the way, not of the flow.
_IGNORED = {
    "accept",
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "date",
    "host",
    "keep-alive",
    "server",
    "transfer-encoding",
    "user-agent",
}


class Answer(msgspec.Struct, frozen=True):
    status: int
    headers: dict[str, str]
    body: str


class Outcome(msgspec.Struct, frozen=True):
    """logs: what the flow itself logged. total, failed: exchanges of its route NAME. files: those that are there."""

    answers: list[Answer]
    logs: list[str]
    total: int
    failed: int
    files: dict[str, str]


async def send(client: httpx.AsyncClient, address: str, case: Case, request: Request) -> Answer:
    """Sends one request to a flow, and reads the answer."""
    answer = await client.request(
        request.method,
        f"{address}/{case.name}{f'?{request.query}' if request.query else ''}",
        headers={"Content-Type": "text/plain", **request.headers},
        content=request.post.encode(),
    )
    ignored = _IGNORED | {name.lower() for name in case.ignore}
    headers = {name: value for name, value in answer.headers.items() if name.lower() not in ignored}
    return Answer(answer.status_code, headers, answer.text)


def files_in(folder: Path) -> dict[str, str]:
    """The content of all files by their names; hidden folders, where done files go, among them."""
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


def prepare(folder: Path, case: Case) -> None:
    """Puts the case's files where its flow finds them."""
    (folder / case.name).mkdir(parents=True, exist_ok=True)
    for name, content in case.files.items():
        target = folder / case.name / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content)
