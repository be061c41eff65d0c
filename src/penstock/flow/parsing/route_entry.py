"""What stands at the top of a flow's document: routes, and what holds for several of them."""

from typing import Annotated

from msgspec import Meta

from penstock.flow.component import Consumer
from penstock.flow.element import Element
from penstock.flow.failures.on_exception import ErrorHandler, OnException
from penstock.flow.family import Family
from penstock.flow.step import Step

_ID = "Name of the route; that of the flow when absent."


class From(Element, frozen=True, kw_only=True):
    """Where exchanges come from, and the steps for them."""

    element = "from"
    option_family = Family.ROUTE_OPTION

    id: Annotated[str, Meta(description=_ID)] = ""
    description: Annotated[str, Meta(description="What it is for.")] = ""
    note: Annotated[str, Meta(description="A remark.")] = ""
    endpoint: Annotated[Consumer, Meta(description="The endpoint, given by `uri` and `parameters`.")]
    steps: Annotated[tuple[Step, ...], Meta(description="What is done with each exchange, in order.")]


class RouteEntry(Element, frozen=True, kw_only=True):
    """A route with a name and options of its own."""

    element = "route"
    option_family = Family.ROUTE_OPTION

    id: Annotated[str, Meta(description=_ID)] = ""
    description: Annotated[str, Meta(description="What it is for.")] = ""
    note: Annotated[str, Meta(description="A remark.")] = ""
    group: Annotated[str, Meta(description="The group of routes that it belongs to, for people.")] = ""
    from_: Annotated[From, Meta(description="Where exchanges come from, and the steps for them.")]
    error_handler: Annotated[ErrorHandler | None, Meta(description="How errors of its steps are handled.")] = None
    route_configuration_id: Annotated[
        str, Meta(description="Names of the route configurations that hold for it, with commas between.")
    ] = ""


class RouteConfiguration(Element, frozen=True, kw_only=True):
    """What is done about errors in the routes that name it, or in all routes when it has no name."""

    element = "routeConfiguration"
    option_family = Family.ROUTE_OPTION

    id: Annotated[str, Meta(description="The name that routes refer to.")] = ""
    description: Annotated[str, Meta(description="What it is for.")] = ""
    note: Annotated[str, Meta(description="A remark.")] = ""
    error_handler: Annotated[ErrorHandler | None, Meta(description="For routes that have none of their own.")] = None
    on_exception: Annotated[
        tuple[OnException, ...], Meta(description="A list of `onException`, which come after those of the document.")
    ] = ()
