"""A message as flows have it, and the flow around it, for tests of expressions."""

from datetime import UTC, datetime

from penstock.flow.commands.command import CommandRunner
from penstock.flow.context import FlowContext
from penstock.flow.exchange import Exchange
from penstock.flow.variables import Variable, Variables
from penstock.kernel.clock import ManualClock
from tests.unit.flow_listener import RememberingListener

NOON = datetime(2026, 3, 1, 12, 5, 7, 250_000, tzinfo=UTC)


async def resolve(name: str) -> Variable:
    return Variable(f"value of {name}")


def flow_context() -> FlowContext:
    return FlowContext("f", "1", ManualClock(NOON), RememberingListener(), Variables(resolve), CommandRunner({}))


def message() -> Exchange:
    exchange = Exchange("exchange-1", "route-1", NOON)
    exchange.body = {"name": "Ada", "list": ["a", "b", 3], "m": {"k": "v"}, "nothing": None}
    values = {"n": "5", "name": "Ada", "num": 7, "f": 2.5, "t": True, "z": "0001", "empty": "", "list": ["a", 3]}
    for name, value in values.items():
        exchange.headers[name] = value
    exchange.headers["key"] = "name"
    exchange.headers["at"] = NOON
    exchange.headers["CamelFileName"] = "in/orders.2026.csv"
    return exchange
