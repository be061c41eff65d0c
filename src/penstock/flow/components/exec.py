"""`exec:COMMAND`: runs a command on the agent."""

import asyncio
from typing import Annotated

import msgspec
from msgspec import Meta

from penstock.flow.commands.arguments import Arguments
from penstock.flow.commands.command import Command, CommandFailed, Outcome
from penstock.flow.commands.exit_values import ExitValues
from penstock.flow.commands.output_lines import Lines
from penstock.flow.component import Producer
from penstock.flow.context import FlowContext
from penstock.flow.exchange import Exchange
from penstock.flow.listener import CommandRun, Level
from penstock.flow.period import Period
from penstock.flow.text import Text
from penstock.kernel.errors import PenstockError
from penstock.kernel.ids import new_id

_USE = "a command, where other users of the machine can read it"

_CAMEL_OVERRIDES = tuple(
    f"CamelExec{option}"
    for option in (
        "CommandExecutable",
        "CommandArgs",
        "CommandOutFile",
        "CommandTimeout",
        "CommandExitValues",
        "CommandWorkingDir",
        "UseStderrOnEmptyStdout",
    )
)


class Exec(Producer, frozen=True, kw_only=True):
    """Runs a command without a shell; the body becomes the end of its standard output.

    Sets the headers CamelExecExitValue and CamelExecStderr. Arguments as a list are passed on exactly.
    """

    element = "exec"
    path = "executable"

    executable: Annotated[Text, Meta(description="The program: a path, or a name that is found on PATH.")]
    args: Annotated[
        Arguments,
        Meta(description='A list of arguments, or one text split at blanks: "a b" is one, ""a b"" keeps quotes.'),
    ] = Arguments()
    working_dir: Annotated[Text | None, Meta(description="Directory to run in; the agent's when absent.")] = None
    timeout: Annotated[
        Period | None, Meta(description="Time after which the command and all it started are ended.")
    ] = None
    use_stderr_on_empty_stdout: Annotated[
        bool, Meta(description="Takes standard error for the body when standard output is empty.")
    ] = False
    exit_values: Annotated[ExitValues, Meta(description="Exit values of success, like 0,3; any value when absent.")] = (
        ExitValues()
    )

    async def send(self, exchange: Exchange, flow: FlowContext) -> None:
        async with flow.commands.turn():
            run = CommandRun(
                id=new_id(),
                flow=flow.name,
                version=flow.version,
                exchange_id=exchange.id,
                due=exchange.due,
                command=tuple(str(text) for text in (self.executable, *self.args)),
                started=flow.clock.now(),
            )
            outcome = await self._run(run, exchange, flow)
        self._answer(exchange, outcome, flow)

    async def _run(self, run: CommandRun, exchange: Exchange, flow: FlowContext) -> Outcome:
        """Runs the command and tells the listener how it ended, whatever happens."""
        outcome = None
        error: str | None = "the run ended with an unexpected error"
        try:
            await flow.listener.run_started(run)
            command = await self._command(exchange, flow)
            outcome = await flow.commands.run(command, str(run.id), self._lines(exchange, flow))
            error = self._failure(command, outcome)
        except PenstockError as failure:
            error = failure.detail
            raise
        except asyncio.CancelledError:
            error = f"command '{self.executable}' was ended together with its flow"
            raise
        finally:
            await flow.listener.run_finished(_finished(run, outcome, error, flow))
        if error is not None:
            raise CommandFailed(error)
        return outcome

    async def _command(self, exchange: Exchange, flow: FlowContext) -> Command:
        """The command with its variables' values."""
        for name in _CAMEL_OVERRIDES:
            if name in exchange.headers:
                raise CommandFailed(f"header '{name}' is not known here: a message cannot change the command")
        argv = [await text.resolve_public(flow.variables, _USE) for text in (self.executable, *self.args)]
        folder = await self.working_dir.resolve_public(flow.variables, _USE) if self.working_dir else None
        return Command(tuple(argv), folder, self.timeout)

    def _lines(self, exchange: Exchange, flow: FlowContext) -> Lines | None:
        """What takes each line that the command writes."""
        return None

    def _failure(self, command: Command, outcome: Outcome) -> str | None:
        program = command.argv[0]
        if outcome.timed_out:
            return f"command '{program}' was ended after its time limit of {command.timeout}"
        if self.exit_values and outcome.exit_code not in self.exit_values:
            return f"command '{program}' ended with exit value {outcome.exit_code}"
        return None

    def _answer(self, exchange: Exchange, outcome: Outcome, flow: FlowContext) -> None:
        exchange.body = outcome.stdout.text()
        if not exchange.body and self.use_stderr_on_empty_stdout:
            exchange.body = outcome.stderr.text()
        exchange.headers["CamelExecExitValue"] = outcome.exit_code
        exchange.headers["CamelExecStderr"] = outcome.stderr.text() or None
        if outcome.stdout.dropped:
            cut = f"The body is the end of the command's output: {outcome.stdout.dropped} bytes before it are dropped"
            flow.log(Level.WARN, cut, exchange.route, exchange.id)


def _finished(run: CommandRun, outcome: Outcome | None, error: str | None, flow: FlowContext) -> CommandRun:
    return msgspec.structs.replace(
        run,
        finished=flow.clock.now(),
        exit_code=outcome.exit_code if outcome is not None else None,
        error=error,
        output=flow.variables.masked(outcome.output.text()) if outcome is not None else "",
        output_bytes=outcome.output.total if outcome is not None else 0,
    )
