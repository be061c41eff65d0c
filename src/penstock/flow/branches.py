"""The parts of steps that have several lists of steps."""

from typing import Annotated

from msgspec import Meta

from penstock.flow.element import Element
from penstock.flow.failures.exceptions import ExceptionNames
from penstock.flow.language import Condition
from penstock.flow.step import Step


class Branch(Element, frozen=True, kw_only=True):
    """Steps of their own within another step."""

    id: Annotated[str, Meta(description="Name, for people.")] = ""
    description: Annotated[str, Meta(description="What it is for.")] = ""
    note: Annotated[str, Meta(description="A remark.")] = ""
    disabled: Annotated[bool, Meta(description="Leaves it out.")] = False
    steps: Annotated[tuple[Step, ...], Meta(description="The steps.")] = ()


class When(Branch, frozen=True, kw_only=True):
    """Steps for exchanges that a condition holds for."""

    element = "when"

    expression: Annotated[Condition, Meta(description="The condition.")]


class Otherwise(Branch, frozen=True, kw_only=True):
    """Steps for all other exchanges."""

    element = "otherwise"


class DoCatch(Branch, frozen=True, kw_only=True):
    """Steps for exchanges that failed with one of the exceptions."""

    element = "doCatch"

    exception: Annotated[
        ExceptionNames, Meta(description="Names of Java's classes; `java.lang.Exception` is every error.")
    ]
    on_when: Annotated[Condition | None, Meta(description="Only when this holds.")] = None


class DoFinally(Branch, frozen=True, kw_only=True):
    """Steps that are done in any case."""

    element = "doFinally"
