"""The bounds of listings (specification 3, Limits)."""

from typing import Annotated, TypeVar

import msgspec

DEFAULT = 100
MOST = 1000

PageSize = Annotated[int, msgspec.Meta(ge=0, le=MOST, extra_json_schema={"format": "int32"})]
Skip = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1, extra_json_schema={"format": "int32"})]

T = TypeVar("T")


def page_size(*asked: int | None) -> int:
    """The smallest of the sizes asked for, 100 when none was."""
    given = [size for size in asked if size is not None]
    return min(given) if given else DEFAULT


def cut(items: list[T], size: int, skip: int) -> tuple[list[T], int | None]:
    """`items`, read with one more than `size`, as the page and where the next one begins, if there is one."""
    return items[:size], skip + size if len(items) > size and size else None
