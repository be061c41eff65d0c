"""Errors of steps and components, and the Java exceptions that they stand for in `onException` and `doCatch`."""

from collections.abc import Iterator
from typing import ClassVar

from penstock.kernel.errors import NotFound, PenstockError

_RUNTIME = "java.lang.RuntimeException"
_IO = "java.io.IOException"
_ALWAYS = ("java.lang.Exception", "java.lang.Throwable")


class FlowError(PenstockError):
    """Base of what steps and components raise.

    java: the exceptions of Java and Camel that it counts as, the most special first; subclasses add to it.
    """

    code = "flow-error"
    title = "The exchange failed"
    java: ClassVar[tuple[str, ...]] = ()


_STANDARD: dict[type[BaseException], tuple[str, ...]] = {
    FileNotFoundError: ("java.io.FileNotFoundException", "java.nio.file.NoSuchFileException"),
    ConnectionRefusedError: ("java.net.ConnectException",),
    ConnectionError: ("java.net.SocketException",),
    OSError: (_IO,),
    TimeoutError: ("java.util.concurrent.TimeoutException", "java.net.SocketTimeoutException", _IO),
    ZeroDivisionError: ("java.lang.ArithmeticException",),
    ArithmeticError: ("java.lang.ArithmeticException", _RUNTIME),
    IndexError: ("java.lang.IndexOutOfBoundsException", _RUNTIME),
    KeyError: ("java.util.NoSuchElementException", _RUNTIME),
    UnicodeError: ("java.nio.charset.CharacterCodingException", _IO),
    ValueError: ("java.lang.IllegalArgumentException", _RUNTIME),
    TypeError: ("org.apache.camel.TypeConversionException", "java.lang.ClassCastException", _RUNTIME),
    NotImplementedError: ("java.lang.UnsupportedOperationException",),
    RuntimeError: (_RUNTIME,),
    NotFound: ("java.util.NoSuchElementException", _RUNTIME),
}


def chain(error: BaseException) -> list[BaseException]:
    """The error and what it came from, the first cause first."""
    found: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in found:
        found.append(cause)
        cause = cause.__cause__
    return found[::-1]


def java_names(error: BaseException) -> tuple[str, ...]:
    """The exceptions that the error counts as, the most special first; `java.lang.Exception` is always one."""
    own = getattr(error, "java_names", ())
    return tuple(dict.fromkeys((*own, *_inherited(type(error)), *_ALWAYS)))


def lineage(name: str) -> tuple[str, ...]:
    """What an exception of Java's is besides, the most special first."""
    for kind in (*_STANDARD, *_subclasses(FlowError)):
        names = tuple(_inherited(kind))
        if name in names:
            return tuple(dict.fromkeys((name, *names[names.index(name) :], *_ALWAYS)))
    return tuple(dict.fromkeys((name, *_ALWAYS)))


def known_java_names() -> frozenset[str]:
    """Every exception that something in this engine can count as."""
    own = [name for kind in (*_STANDARD, *_subclasses(FlowError)) for name in _inherited(kind)]
    return frozenset((*own, *_ALWAYS))


def _inherited(kind: type[BaseException]) -> Iterator[str]:
    for base in kind.__mro__:
        yield from base.__dict__.get("java", ()) or _STANDARD.get(base, ())


def _subclasses(kind: type[FlowError]) -> Iterator[type[FlowError]]:
    for subclass in kind.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)
