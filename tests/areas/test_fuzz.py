"""Random requests made from the OpenAPI document: none is answered with a 5xx or against the document."""

import asyncio
import sys
from pathlib import Path

import pytest

from tests.application import running_application

CHECKS = (
    "not_a_server_error",
    "response_schema_conformance",
    "content_type_conformance",
    "status_code_conformance",
    "response_headers_conformance",
)
EXAMPLES = 8


@pytest.mark.timeout(600)
async def test_no_generated_request_breaks_the_server_or_the_document(tmp_path: Path) -> None:
    async with running_application(tmp_path / "application") as application:
        process = await asyncio.create_subprocess_exec(
            str(Path(sys.executable).with_name("st")),
            "run",
            f"{application.address}/openapi.json",
            "--header",
            f"Authorization: {application.admin.headers['authorization']}",
            "--checks",
            ",".join(CHECKS),
            "--max-examples",
            str(EXAMPLES),
            "--phases",
            "examples,coverage,fuzzing",
            "--exclude-path-regex",
            "/follow$",
            "--suppress-health-check",
            "all",
            "--no-color",
            cwd=tmp_path,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output, _ = await process.communicate()
        assert (await application.anonymous.get("/readyz")).status_code == 200
    assert process.returncode == 0, output.decode().rpartition("= FAILURES =")[2][:8000]
