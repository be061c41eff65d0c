"""The flow of a job that runs when it is due says exactly what was asked for."""

from hypothesis import given
from hypothesis import strategies as st

from penstock.flow.commands.job import Job, package_of
from penstock.flow.commands.job_flow import job_flow
from penstock.flow.components.webjob import WebJob
from penstock.flow.eips.to import To
from penstock.flow.parsing.parser import parse_flow
from penstock.packages.environment import Package

CRON = "0 */5 * * * MON-FRI"
PIECES = ("${body}", "{{", "}}", "{{var:X}}", "\\", "'", '"', "\n", "\t", " ", ": ", "#", "null", "007", "ä", "🚰", "=")
text = st.lists(st.sampled_from(PIECES), max_size=6).map("".join)
names = st.from_regex(r"[A-Z_][A-Z0-9_]{0,8}", fullmatch=True)


@given(text.filter(bool), st.lists(text, max_size=4), st.dictionaries(names, text, max_size=4))
def test_texts_come_back_exactly(command: str, arguments: list[str], environment: dict[str, str]) -> None:
    flow = parse_flow("webjob-a", "1", job_flow("webjob-a", CRON, command, arguments, environment, "acme==1.0"))
    (route,) = flow.routes
    (step,) = route.steps
    assert isinstance(step, To)
    run = step.endpoint
    assert isinstance(run, WebJob)
    job = Job.of(command, arguments, environment, "acme==1.0")
    assert (run.executable, tuple(run.args), tuple(run.environment)) == (
        job.executable,
        job.arguments,
        job.environment,
    )
    assert str(run.executable) == command
    assert [str(each) for each in run.args] == arguments
    assert {name: str(value) for name, value in run.environment} == environment
    assert package_of(run.package) == Package("acme", "1.0")


def test_a_package_without_version_is_the_newest() -> None:
    assert package_of("acme") == Package("acme")
    assert package_of("") is None
