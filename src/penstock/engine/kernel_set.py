"""The kernels of one document or notebook: at most one for each language."""

from collections.abc import Awaitable, Callable, Iterable

from penstock.engine.kernel import Kernel
from penstock.engine.languages import Language, Languages

Take = Callable[[Language], Awaitable[Kernel]]


class KernelSet:
    """Takes kernels when they are first needed."""

    def __init__(self, languages: Languages, take: Take) -> None:
        self._languages = languages
        self._take = take
        self._kernels: dict[str, Kernel] = {}

    @property
    def running(self) -> Iterable[Kernel]:
        return tuple(self._kernels.values())

    @property
    def alive(self) -> bool:
        return all(kernel.alive for kernel in self._kernels.values())

    async def kernel(self, name: str) -> tuple[Kernel, bool]:
        """The kernel that a document calls so, and whether it is new. Raises Invalid, KernelLost, Unavailable."""
        language = await self._languages.find(name)
        kernel = self._kernels.get(language.name)
        if kernel is not None and kernel.alive:
            return kernel, False
        if kernel is not None:
            await kernel.close()
        self._kernels[language.name] = await self._take(language)
        return self._kernels[language.name], True

    async def names(self) -> Iterable[str]:
        """Of all kernels that are installed."""
        return await self._languages.names()

    async def close(self) -> None:
        """Ends them all; those that are needed afterwards are new."""
        kernels, self._kernels = self._kernels, {}
        for kernel in kernels.values():
            await kernel.close()
