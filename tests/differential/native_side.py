"""The flows on the native engine."""

from collections.abc import Sequence
from datetime import UTC
from pathlib import Path

from penstock.flow.engine import FlowEngine
from penstock.flow.parsing.parser import parse_flow
from penstock.flow.parsing.problem import InvalidFlow
from penstock.flow.surroundings import FlowSurroundings, Reach
from penstock.kernel.clock import SystemClock
from tests.differential.case import Case
from tests.differential.outcome import Outcome, files_in
from tests.differential.side import FlowLog, prepare_all, send_all, variables


async def run_natively(cases: Sequence[Case], folder: Path, values: dict[str, str]) -> dict[str, Outcome | str]:
    """Runs all flows at once; answers what each did, or why it does not run."""
    refused = _refused(cases)
    cases = [case for case in cases if case.name not in refused]
    prepare_all(folder, cases)
    log = FlowLog()
    reach = Reach(allow_private=True, folders=[folder], http_port=0)
    async with (
        FlowSurroundings(reach) as surroundings,
        FlowEngine(SystemClock(), UTC, log, variables(folder, values), surroundings=surroundings) as engine,
    ):
        for case in cases:
            await engine.start(parse_flow(case.name, "1", case.source))
        answers = await send_all(f"http://127.0.0.1:{surroundings.server.port}", cases, log)
        statuses = {case.name: engine.status(case.name).statistics for case in cases}
    outcomes = {
        case.name: Outcome(
            answers[case.name],
            log.of(case),
            statuses[case.name].exchanges_total,
            statuses[case.name].exchanges_failed,
            files_in(folder / case.name),
        )
        for case in cases
    }
    return outcomes | refused


def _refused(cases: Sequence[Case]) -> dict[str, str]:
    refused = {}
    for case in cases:
        try:
            parse_flow(case.name, "1", case.source)
        except InvalidFlow as error:
            refused[case.name] = error.detail
    return refused
