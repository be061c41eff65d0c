"""What is said of values that are not allowed."""

from enum import Enum, IntEnum
from typing import Annotated, Any
from uuid import UUID

import msgspec
import pytest

from penstock.kernel.errors import Invalid
from penstock.kernel.validation import from_builtins
from penstock.kernel.wire import Int32


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


@pytest.mark.parametrize(
    ("wanted", "value", "told"),
    [
        (int, "5", "must be a whole number, not a string"),
        (int, 5.5, "must be a whole number, not a decimal number"),
        (float, [], "must be a number, not an array"),
        (str | None, 5, "must be a string, not a whole number"),
        (str, True, "must be a string, not a boolean"),
        (bool, "yes", "must be true or false, not a string"),
        (dict[str, str], 5, "must be an object, not a whole number"),
        (list[str], {}, "must be an array, not an object"),
        (str, None, "must be a string, not null"),
        (int | str, [], "must be a whole number or a string, not an array"),
        (Int32, 2**31, "must be at most 2147483647"),
        (Annotated[int, msgspec.Meta(ge=0)], -1, "must be at least 0"),
        (Annotated[float, msgspec.Meta(gt=0)], 0, "must be more than 0.0"),
        (Annotated[str, msgspec.Meta(min_length=2)], "a", "must have at least 2 characters"),
        (Annotated[list[int], msgspec.Meta(max_length=1)], [1, 2], "must have at most 1 items"),
        (list[Annotated[int, msgspec.Meta(le=5)]], [6], "must be at most 5"),
        (Colour, "green", "must be one of red, blue"),
        (Level, 3, "must be one of 1, 2"),
        (UUID, "x", "must be a UUID"),
        (bytes, "?", "must be base64"),
    ],
)
def test_it_is_told_what_is_allowed(wanted: Any, value: Any, told: str) -> None:
    with pytest.raises(Invalid) as raised:
        from_builtins(value, wanted)
    assert [error.message for error in raised.value.errors] == [told]
