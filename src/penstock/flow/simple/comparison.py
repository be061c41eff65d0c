"""Comparing two values as Camel does: whichever type helps is tried."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime

from penstock.flow.conversion import number, truth, whole
from penstock.flow.values import text_of

Compare = Callable[[object, object], bool]

_DIGITS = re.compile(r"\d+", re.ASCII)
_RANGE = re.compile(r"(-?\d+)\.\.(-?\d+)", re.ASCII)


def equal(left: object, right: object, ignore_case: bool = False) -> bool:
    """Whether two values are the same, texts of digits by their number."""
    if left is None or right is None:
        return left is right
    if isinstance(left, str) and isinstance(right, str):
        if _DIGITS.fullmatch(left) and _DIGITS.fullmatch(right):
            return int(left) == int(right)
        return left.casefold() == right.casefold() if ignore_case else left == right
    if isinstance(left, bool) or isinstance(right, bool):
        return truth(left) is not None and truth(left) == truth(right)
    if isinstance(left, str | int | float) and isinstance(right, str | int | float):
        return _equal_numbers(left, right)
    return left == right or text_of(left) == text_of(right)


def _equal_numbers(left: str | int | float, right: str | int | float) -> bool:
    """As numbers; a fraction beside a whole number loses what stands behind the point, as in Java."""
    if isinstance(left, int) or isinstance(right, int):
        first, second = whole(left), whole(right)
        if first is not None and second is not None:
            return first == second
    return number(left) is not None and number(left) == number(right)


def _order(left: object, right: object) -> int | None:
    """Less than, equal to or greater than 0 as `left` is to `right`; None when there is no telling."""
    if left is None or right is None:
        return None
    for kind in (whole, number):
        first, second = kind(left), kind(right)
        if first is not None and second is not None:
            return (first > second) - (first < second)
    if isinstance(left, datetime) and isinstance(right, datetime):
        return (left > right) - (left < right)
    one, other = text_of(left), text_of(right)
    return (one > other) - (one < other)


def _ordered(holds: Callable[[int], bool]) -> Compare:
    def compare(left: object, right: object) -> bool:
        order = _order(left, right)
        return order is not None and holds(order)

    return compare


def _contains(left: object, right: object) -> bool:
    if left is None or right is None:
        return left is right
    if isinstance(left, str):
        return text_of(right) in left
    if isinstance(left, list | tuple):
        return any(type(item) is type(right) and item == right for item in left)
    return equal(left, right)  # a single value holds itself


def _contains_in_any_case(left: object, right: object) -> bool:
    if isinstance(left, str):
        return text_of(right).casefold() in left.casefold()
    if isinstance(left, list | tuple) and isinstance(right, str):
        return any(isinstance(item, str) and item.casefold() == right.casefold() for item in left)
    return _contains(left, right)


def _is_in(left: object, right: object) -> bool:
    return any(equal(left, item) for item in text_of(right).split(","))


def _in_range(left: object, right: object) -> bool:
    match = _RANGE.fullmatch(text_of(right).strip())
    if match is None:
        raise ValueError("range needs numbers like '100..199'")
    place = whole(left)
    return place is not None and int(match[1]) <= place <= int(match[2])


def _matches(left: object, right: object) -> bool:
    return left is not None and re.fullmatch(text_of(right), text_of(left)) is not None


def _starts(left: object, right: object) -> bool:
    return left is not None and right is not None and text_of(left).startswith(text_of(right))


def _ends(left: object, right: object) -> bool:
    return left is not None and right is not None and text_of(left).endswith(text_of(right))


_KINDS: Mapping[str, tuple[type, ...]] = {
    "java.lang.Object": (object,),
    "java.lang.String": (str,),
    "java.lang.CharSequence": (str,),
    "java.lang.Boolean": (bool,),
    "java.lang.Integer": (int,),
    "java.lang.Long": (int,),
    "java.lang.Double": (float,),
    "java.lang.Number": (int, float),
    "java.util.Map": (dict,),
    "java.util.LinkedHashMap": (dict,),
    "java.util.List": (list, tuple),
    "java.util.ArrayList": (list,),
    "java.util.Collection": (list, tuple),
    "byte[]": (bytes, bytearray),
}
_SMALL, _LONG = 2**31, 2**63


def kind_of(name: str) -> str:
    """The full name of a type that `is` knows. Raises ValueError."""
    for full in (name, f"java.lang.{name}"):
        if full in _KINDS:
            return full
    raise ValueError(f"type '{name}' is not known (known: {', '.join(_KINDS)})")


def _is_a(left: object, right: object) -> bool:
    if left is None:
        return False
    name = kind_of(text_of(right))
    if isinstance(left, bool):
        return name in ("java.lang.Boolean", "java.lang.Object")
    if name in ("java.lang.Integer", "java.lang.Long") and isinstance(left, int):
        return (-_SMALL <= left < _SMALL) is (name == "java.lang.Integer") and abs(left) < _LONG
    return isinstance(left, _KINDS[name])


def _negated(compare: Compare) -> Compare:
    return lambda left, right: not compare(left, right)


_PLAIN: Mapping[str, Compare] = {
    "==": equal,
    "=~": lambda left, right: equal(left, right, ignore_case=True),
    ">": _ordered(lambda order: order > 0),
    ">=": _ordered(lambda order: order >= 0),
    "<": _ordered(lambda order: order < 0),
    "<=": _ordered(lambda order: order <= 0),
    "~~": _contains_in_any_case,
    "contains": _contains,
    "regex": _matches,
    "in": _is_in,
    "range": _in_range,
    "is": _is_a,
    "startsWith": _starts,
    "starts with": _starts,
    "endsWith": _ends,
    "ends with": _ends,
}

OPERATORS: Mapping[str, Compare] = {
    **_PLAIN,
    "!=": _negated(equal),
    "!=~": _negated(_PLAIN["=~"]),
    **{f"!{name}": _negated(_PLAIN[name]) for name in ("~~", "contains", "regex", "in", "range", "is")},
    **{f"not {name}": _negated(_PLAIN[name]) for name in ("contains", "regex", "in", "range", "is")},
    **{f"!{name}": _negated(_PLAIN[name]) for name in ("startsWith", "endsWith")},
}
"""The operators, by how they are written."""
