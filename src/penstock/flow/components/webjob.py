"""`webjob:COMMAND`: runs a command with environment variables of its own, perhaps brought by a Python package."""

from typing import Annotated, Self

import msgspec
from msgspec import Meta

from penstock.flow.commands.command import Command
from penstock.flow.commands.job import Job, package_of
from penstock.flow.commands.output_lines import BoundedLines, Lines
from penstock.flow.components.exec import Exec
from penstock.flow.context import FlowContext
from penstock.flow.exchange import Exchange
from penstock.flow.listener import Level
from penstock.flow.text import Text


class EnvironmentTexts(tuple[tuple[str, Text], ...]):
    """Environment variables in order, whose texts may name variables."""

    __slots__ = ()

    takes_variables = True

    @classmethod
    def parse(cls, text: str) -> Self:
        """Reads a JSON object. Raises ValueError."""
        try:
            values = msgspec.json.decode(text, type=dict[str, str])
        except msgspec.DecodeError:
            raise ValueError("must be a JSON object of texts") from None
        return cls((name, Text.parse(value)) for name, value in values.items())


class WebJob(Exec, frozen=True, kw_only=True):
    """Like `exec`, with environment variables and a package. Each line that the command writes is logged."""

    element = "webjob"

    environment: Annotated[
        EnvironmentTexts,
        Meta(description="Environment variables of the command as a JSON object; secret variables may stand here."),
    ] = EnvironmentTexts()
    package: Annotated[
        str | None,
        Meta(
            description="Python package that brings the command, as `name` or `name==version`, in an environment of "
            "its own."
        ),
    ] = None

    async def _command(self, exchange: Exchange, flow: FlowContext) -> Command:
        plain = await super()._command(exchange, flow)
        job = Job(self.executable, self.args, self.environment, package_of(self.package))
        command = await job.command(flow.variables, flow.commands.environments)
        return msgspec.structs.replace(command, working_dir=plain.working_dir, timeout=plain.timeout)

    def _lines(self, exchange: Exchange, flow: FlowContext) -> Lines:
        return BoundedLines(lambda stream, text: flow.log(Level.INFO, text, stream, exchange.id))
