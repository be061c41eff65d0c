"""Lists of exceptions as `onException` and `doCatch` name them."""

from collections.abc import Iterable
from typing import Self

from penstock.flow.failures.errors import chain, java_names, known_java_names
from penstock.flow.family import Family
from penstock.flow.parsing.problem import Unknown, UnknownName


class ExceptionNames(tuple[str, ...]):
    """Names of Java's classes; one matches whatever is of it or below it."""

    __slots__ = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        return cls.parse_all([text])

    @classmethod
    def parse_all(cls, texts: Iterable[str]) -> Self:
        """Raises UnknownName for an exception that nothing in this engine counts as."""
        names = cls(text.strip() for text in texts)
        known = known_java_names()
        for name in names:
            if name not in known:
                unknown = Unknown(Family.EXCEPTION, name)
                raise UnknownName(unknown, f"exception {unknown.sentence(known)}")
        return names

    def distance(self, error: BaseException) -> int | None:
        """How far the nearest of the names is from what the error or what it came from is, 0 for the very same.

        None when none matches. As in Camel, the first cause is looked at first.
        """
        far = 0
        for each in chain(error):
            own = java_names(each)
            near = min((own.index(name) for name in self if name in own), default=None)
            if near is not None:
                return far + near
            far += len(own)
        return None
