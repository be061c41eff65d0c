"""`python`: changes the message by Python code, in a process of its own."""

from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from penstock.flow.context import FlowContext
from penstock.flow.exchange import Exchange
from penstock.flow.failures.errors import FlowError
from penstock.flow.listener import Level
from penstock.flow.period import Period
from penstock.flow.python_step.python_worker import PythonCode, PythonWorker
from penstock.flow.step import Step
from penstock.flow.values import text_of


class NoEnvironment(FlowError):
    """The packages that the flow needs cannot be installed here."""

    code = "no-environment"
    title = "The flow's packages cannot be installed"


class Python(Step, frozen=True, kw_only=True):
    """Runs Python code with `body`, `headers` and `properties`, which it may change; they are what JSON can hold.

    The code has the packages that the flow asks for, and nothing of the platform. What it prints is logged. Texts of
    variables do not come into it: set a header before. Natively only: Apache Camel knows no such step.
    """

    element = "python"
    shorthand = "script"

    script: Annotated[str, Meta(description="Statements, like `headers['n'] = len(body)`.")] = ""
    expression: Annotated[str, Meta(description="One expression instead, whose value is the new body.")] = ""
    timeout: Annotated[Period, Meta(description="Time for one message.")] = Period(seconds=30)

    def verify(self) -> None:
        if bool(self.script) is bool(self.expression):
            raise ValueError("needs either `script` or `expression`")
        try:
            compile(self.script or self.expression, "<python step>", "exec" if self.script else "eval")
        except SyntaxError as error:
            raise ValueError(f"line {error.lineno} of the code is not Python: {error.msg}") from None

    async def begin(self, flow: FlowContext) -> None:
        """Makes the environment, so that a package that cannot be had keeps the flow from starting."""
        await _interpreter(flow)

    async def process(self, exchange: Exchange, flow: FlowContext) -> None:
        python = await _interpreter(flow)
        code = PythonCode(self.script or self.expression, bool(self.expression), self.timeout)
        worker = await flow.resource((Python, code), lambda: PythonWorker(code, python, flow.commands.environment))
        answer = await worker.run(
            {
                "body": _plain(exchange.body),
                "headers": _plain(dict(exchange.headers)),
                "properties": _plain(exchange.properties),
            }
        )
        exchange.body = answer["body"]
        _change(exchange.headers, answer["headers"] or {})
        _change(exchange.properties, answer["properties"] or {})
        for line in answer["printed"]:
            flow.log(Level.INFO, line, exchange.route, exchange.id)


async def _interpreter(flow: FlowContext) -> Path | None:
    """That of the flow's packages; None when it needs none."""
    requirements = [package for package in flow.packages if ":" not in package or " @ " in package]
    if not requirements:
        return None
    environments = flow.commands.environments
    if environments is None:
        raise NoEnvironment(f"no packages can be installed here, and the flow needs {', '.join(requirements)}")
    return await environments.ensure_all(requirements)


def _change(values: MutableMapping[str, object], new: Mapping[str, object]) -> None:
    """Takes over what is new or other; what is the same keeps its type, which JSON may not have."""
    for name, value in list(values.items()):
        if name not in new:
            del values[name]
        elif _plain(value) != new[name]:
            values[name] = new[name]
    for name in new:
        if name not in values:
            values[name] = new[name]


def _plain(value: object) -> object:
    """The value as JSON can hold it, everything else as a text."""
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, Mapping):
        return {text_of(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return text_of(value)
