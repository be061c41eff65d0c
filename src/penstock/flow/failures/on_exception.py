"""`onException` and `errorHandler`: what to do about errors, as flows say it."""

from typing import Annotated

from msgspec import Meta

from penstock.flow.component import Producer
from penstock.flow.element import Element
from penstock.flow.failures.exceptions import ExceptionNames
from penstock.flow.failures.redelivery import RedeliveryPolicy
from penstock.flow.language import Condition
from penstock.flow.step import Step


class OnException(Element, frozen=True, kw_only=True):
    """What to do when a step fails with one of the exceptions. The nearest class counts, then the first one."""

    element = "onException"

    id: Annotated[str, Meta(description="Name, for people.")] = ""
    description: Annotated[str, Meta(description="What it is for.")] = ""
    note: Annotated[str, Meta(description="A remark.")] = ""
    exception: Annotated[
        ExceptionNames, Meta(description="Names of Java's classes; `java.lang.Exception` is every error.")
    ] = ExceptionNames(["java.lang.Exception"])
    on_when: Annotated[Condition | None, Meta(description="Only when this holds.")] = None
    redelivery_policy: Annotated[RedeliveryPolicy | None, Meta(description="Tries before that.")] = None
    handled: Annotated[Condition | None, Meta(description="Whether the error is over then; the exchange ends.")] = None
    continued: Annotated[Condition | None, Meta(description="Whether the route goes on behind the step.")] = None
    use_original_message: Annotated[bool, Meta(description="The steps get the message that the route began with.")] = (
        False
    )
    use_original_body: Annotated[bool, Meta(description="The steps get the body that the route began with.")] = False
    steps: Annotated[tuple[Step, ...], Meta(description="Steps for the exchange that failed.")] = ()


class DeadLetterChannel(Element, frozen=True, kw_only=True):
    """Hands on what fails, and is done with it."""

    element = "deadLetterChannel"

    id: Annotated[str, Meta(description="Name, for people.")] = ""
    dead_letter_uri: Annotated[Producer, Meta(description="Where to.")]
    dead_letter_handle_new_exception: Annotated[
        bool, Meta(description="Whether an error while it is handed on is only logged.")
    ] = True
    use_original_message: Annotated[bool, Meta(description="Hands on the message that the route began with.")] = False
    use_original_body: Annotated[bool, Meta(description="Hands on the body that the route began with.")] = False
    redelivery_policy: Annotated[RedeliveryPolicy | None, Meta(description="Tries before that.")] = None


class DefaultErrorHandler(Element, frozen=True, kw_only=True):
    """The error handler of routes that name none: exchanges fail."""

    element = "defaultErrorHandler"

    id: Annotated[str, Meta(description="Name, for people.")] = ""
    redelivery_policy: Annotated[RedeliveryPolicy | None, Meta(description="Tries before that.")] = None


class NoErrorHandler(Element, frozen=True, kw_only=True):
    """Errors are left to whoever called the route; `onException` does not count either."""

    element = "noErrorHandler"

    id: Annotated[str, Meta(description="Name, for people.")] = ""


class ErrorHandler(Element, frozen=True, kw_only=True):
    """One of the ways to handle errors."""

    element = "errorHandler"

    id: Annotated[str, Meta(description="Name, for people.")] = ""
    dead_letter_channel: Annotated[DeadLetterChannel | None, Meta(description="Hands on what fails.")] = None
    default_error_handler: Annotated[DefaultErrorHandler | None, Meta(description="Lets exchanges fail.")] = None
    no_error_handler: Annotated[NoErrorHandler | None, Meta(description="Leaves errors to the caller.")] = None
