"""Jobs: a command with environment variables of its own, perhaps brought by a Python package."""

from collections.abc import Mapping, Sequence
from typing import Self

import msgspec

from penstock.flow.commands.command import Command, CommandFailed
from penstock.flow.text import Text, written
from penstock.flow.variables import Variables
from penstock.packages.environment import Environments, Package

_USE = "a command, where other users of the machine can read it"


class Job(msgspec.Struct, frozen=True):
    """Texts may name variables; secret ones may stand in the environment only.

    package: is installed into an environment of its own, whose programs come before those of the machine.
    """

    executable: Text
    arguments: tuple[Text, ...] = ()
    environment: tuple[tuple[str, Text], ...] = ()
    package: Package | None = None

    @classmethod
    def of(cls, executable: str, arguments: Sequence[str], environment: Mapping[str, str], package: str | None) -> Self:
        """Texts as they were given: any `{{` but that of `{{var:NAME}}` is taken as it is."""
        return cls(
            Text.parse(written(executable)),
            tuple(Text.parse(written(each)) for each in arguments),
            tuple((name, Text.parse(written(value))) for name, value in environment.items()),
            package_of(package),
        )

    async def command(self, variables: Variables, environments: Environments | None) -> Command:
        """The command with its variables' values, its package installed.

        Raises NotFound and SecretExposed for variables, Unavailable, InstallFailed, CommandFailed.
        """
        argv = [await text.resolve_public(variables, _USE) for text in (self.executable, *self.arguments)]
        environment = [(name, await text.resolve(variables)) for name, text in self.environment]
        if self.package is None:
            return Command(tuple(argv), environment=tuple(environment))
        if environments is None:
            raise CommandFailed(f"package '{self.package}' cannot be installed here")
        installed = await environments.ensure(self.package)
        return Command(tuple(argv), environment=tuple(environment), programs=str(installed.programs))


def package_of(text: str | None) -> Package | None:
    """`name` or `name==version`."""
    if not text:
        return None
    name, _, version = text.partition("==")
    return Package(name, version or None)
