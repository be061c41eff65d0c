"""Every operation of the API."""

from collections.abc import Sequence
from typing import overload

from penstock.resource.operation import Operation


class OperationCatalog(Sequence[Operation]):
    """Provided by the server: every operation of the API, complete once the server has started."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        self._operations = operations

    @overload
    def __getitem__(self, index: int) -> Operation: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Operation]: ...
    def __getitem__(self, index: int | slice) -> Operation | Sequence[Operation]:
        return self._operations[index]

    def __len__(self) -> int:
        return len(self._operations)
