"""A flow is checked against all that Camel knows, without Camel."""

import pytest

from penstock.flow.camel.camel_document import CamelDocument
from penstock.flow.camel.needs import needed_packages
from penstock.flow.camel.release import GROUP, VERSION


def _flow(steps: str, uri: str = "timer:x") -> str:
    return f'- from:\n    uri: "{uri}"\n    steps:\n      - {steps}\n'


def _problems(source: str) -> list[tuple[int, str]]:
    return [(problem.line, str(problem)) for problem in CamelDocument.read(source).problems]


@pytest.mark.parametrize(
    ("source", "line", "told"),
    [
        (_flow("log: a", uri="tmer:x"), 2, "component 'tmer' is not known, did you mean 'timer'?"),
        (_flow("lgo: a"), 4, "'lgo' is not known, did you mean 'log'?"),
        (_flow("to: kafka:t?broker=b"), 4, "option 'broker' is not known, did you mean 'brokers'?"),
        (_flow("{to: {uri: kafka, parameters: {topik: t}}}"), 4, "option 'topik' is not known"),
        (_flow("setBody: {smple: a}"), 4, "option 'smple' is not known, did you mean 'simple'?"),
        (_flow("unmarshal: {jsn: {}}"), 4, "option 'jsn' is not known"),
        (_flow("setBody: [a]"), 4, "must be a mapping of options"),
        (_flow("choice: {when: [{simple: a, steps: [{lgo: b}]}]}"), 4, "'lgo' is not known"),
        ("- rout: {}\n", 1, "option 'rout' is not known, did you mean 'route'?"),
        ("from: x\n", 1, "must be a list of routes"),
        ("- from: [\n", 2, "is not YAML"),
    ],
)
def test_what_camel_does_not_know_is_told_with_its_line_and_the_nearest_name(source: str, line: int, told: str) -> None:
    [(found, message)] = _problems(source)
    assert found == line
    assert told in message


@pytest.mark.parametrize(
    "source",
    [
        _flow("to: kafka:orders?brokers=a:9092&additionalProperties.x=1"),
        _flow('aggregate: {correlationExpression: {constant: "true"}, completionSize: 3, steps: [{log: a}]}'),
        _flow("circuitBreaker: {steps: [{log: a}], onFallback: {steps: [{log: b}]}}"),
        _flow('toD: "${header.where}"'),
        _flow("marshal: {avro: {library: Jackson}}"),
        _flow("to: quartz:x?trigger.a=b", uri="quartz:q?cron=0+0+*+*+*+?&job.name=x").replace(
            "to: quartz", "log: quartz"
        ),
        "- rest: {path: /a, get: [{path: /b, to: 'direct:b'}]}\n",
        "- beans: [{name: a, type: org.example.A, properties: {x: 1}}]\n- from: {uri: 'timer:x', steps: []}\n",
    ],
)
def test_what_camel_knows_is_taken(source: str) -> None:
    assert _problems(source) == []


def test_packages_are_those_of_the_components_formats_and_steps_that_the_runtime_lacks() -> None:
    source = _flow("marshal: {json: {library: Gson}}", uri="kafka:t") + _flow("circuitBreaker: {steps: []}")
    artifacts = ("camel-gson", "camel-kafka", "camel-resilience4j")
    assert needed_packages(source) == {f"{GROUP}:{artifact}:{VERSION}" for artifact in artifacts}


def test_what_the_runtime_brings_needs_no_package() -> None:
    assert needed_packages(_flow("to: http:example.com", uri="quartz:q?cron=0+0+*+*+*+?")) == set()
