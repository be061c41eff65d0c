"""Runs a document's cells in their order, up to the first that fails."""

import keyword
from collections.abc import Mapping
from typing import Any

import msgspec

from penstock.engine.documents.document import Cell, Document
from penstock.engine.documents.kernels import SHOWN, SILENT, canonical
from penstock.engine.documents.magic import Magic, Reference, parts_of
from penstock.engine.documents.parameters import asked_name, block_of, declared_value
from penstock.engine.documents.python_code import with_values
from penstock.engine.kernel import Emit, Kernel
from penstock.engine.kernel_set import KernelSet
from penstock.engine.languages import PYTHON, reading, writing
from penstock.engine.output import TEXT, Output
from penstock.kernel.errors import Invalid

_VALUE = "value"
_IGNORED = frozenset({"time"})
_LONGEST_VALUE = 1 << 20


class DocumentRun:
    """parameters: values by name, checked already. They are in every kernel before its first code."""

    def __init__(self, document: Document, parameters: Mapping[str, Any], kernels: KernelSet, emit: Emit) -> None:
        self._document = document
        self._given = dict(parameters)
        self._values: dict[str, Any] = dict(parameters)
        self._kernels = kernels
        self._emit = emit
        self._supplied: set[Kernel] = set()

    async def run(self) -> bool:
        """Whether every cell succeeded. Raises Invalid for what cannot run, KernelLost, Unavailable."""
        for cell in self._document.cells:
            name = canonical(cell.kernel, self._document)
            if name in SILENT:
                continue
            if name in SHOWN:
                self._emit(Output(kind="display", data={SHOWN[name]: cell.text, TEXT: cell.text}))
            elif not await self._run_cell(cell, name):
                return False
        return True

    async def _run_cell(self, cell: Cell, kernel: str) -> bool:
        for part in parts_of(cell.text):
            if isinstance(part, Magic):
                await self._obey(part, kernel)
            elif not await self._run_code(self._with_values(part.text, cell, kernel), kernel):
                return False
        return True

    def _with_values(self, text: str, cell: Cell, kernel: str) -> str:
        block = block_of(cell, text) if kernel == PYTHON else ""
        return with_values(text, block, self._given) if block else text

    async def _run_code(self, code: str, name: str) -> bool:
        if name == _VALUE:
            raise Invalid.one("", "the text of a #!value cell needs `#!value --name ...` above it")
        answer = await (await self._kernel(name)).execute(code, self._emit)
        return not answer.failed

    async def _obey(self, magic: Magic, kernel: str) -> None:
        match magic.name:
            case "value":
                name = magic.needed("name")
                if name not in self._given:
                    self._values[name] = msgspec.json.decode(declared_value(magic).default or "null")
                await self._tell_supplied(name)
            case "set":
                await self._set(kernel, self._variable_of(magic), await self._value_of(magic))
            case "share":
                await self._share(magic, kernel)
            case name if name not in _IGNORED:
                raise Invalid.one("", f"the magic command '#!{name}' is not supported")

    async def _tell_supplied(self, name: str) -> None:
        """Kernels that have begun already get a value that is declared only now."""
        for kernel in self._supplied:
            await self._set_all(kernel, {name: self._values[name]})

    def _variable_of(self, magic: Magic) -> str:
        name = magic.options.get("name")
        if isinstance(name, Reference) and name.asks:
            return str(self._values[asked_name(magic, name)])
        return magic.needed("name")

    async def _value_of(self, magic: Magic) -> Any:
        value = magic.options.get("value")
        if not isinstance(value, Reference):
            return value or magic.content
        if value.asks:
            return self._values[asked_name(magic, value)]
        return await self._read(value.source, value.name)

    async def _share(self, magic: Magic, kernel: str) -> None:
        source = magic.needed("from")
        if not magic.words or not isinstance(magic.words[0], str):
            raise Invalid.one("", f"'{magic.line}' needs the name of a variable")
        name = magic.words[0]
        await self._set(kernel, magic.text("as") or name, await self._read(source, name))

    async def _read(self, source: str, name: str) -> Any:
        if canonical(source, self._document) == _VALUE:
            if name not in self._values:
                raise Invalid.one("", f"no #!value is called '{name}'")
            return self._values[name]
        return await self._shown(await self._kernel(canonical(source, self._document)), name)

    async def _shown(self, kernel: Kernel, name: str) -> Any:
        _check_variable(name)
        printed: list[str] = []

        def collect(output: Output) -> None:
            if output.kind == "stream" and sum(map(len, printed)) < _LONGEST_VALUE:
                printed.append(str(output.data[TEXT]))

        answer = await kernel.execute(reading(kernel.language.language, name), collect)
        text = "".join(printed)
        try:
            if not answer.failed:
                return msgspec.json.decode(text)
        except msgspec.MsgspecError:
            if kernel.language.language == "bash":
                return text.removesuffix("\n")  # which the kernel adds
        raise Invalid.one("", f"'{name}' of {kernel.language.name} cannot be shared: it is missing, or no JSON")

    async def _set(self, kernel: str, name: str, value: Any) -> None:
        if kernel == _VALUE:
            self._values[name] = value
            return
        _check_variable(name)
        target = await self._kernel(kernel)
        code = writing(target.language.language, name, msgspec.json.encode(value).decode())
        answer = await target.execute(code, _ignore)
        if answer.failed:
            raise Invalid.one("", f"'{name}' cannot be set in {target.language.name}")

    async def _set_all(self, kernel: Kernel, values: Mapping[str, Any]) -> None:
        """Those whose names are variables; others can be had by `#!share --as`."""
        if kernel.language.language != PYTHON:
            return
        named = {name: value for name, value in values.items() if _is_variable(name)}
        if named:
            lines = [writing(PYTHON, name, msgspec.json.encode(value).decode()) for name, value in named.items()]
            await kernel.execute("\n".join(lines), _ignore, silent=True)

    async def _kernel(self, name: str) -> Kernel:
        """With all values that are known by now."""
        kernel, _ = await self._kernels.kernel(name)
        if kernel not in self._supplied:
            self._supplied.add(kernel)
            await self._set_all(kernel, self._values)
        return kernel


def _is_variable(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name)


def _check_variable(name: str) -> None:
    if not _is_variable(name):
        raise Invalid.one("", f"'{name}' is no name of a variable")


def _ignore(output: Output) -> None:
    """What setting a variable shows is nobody's business."""
