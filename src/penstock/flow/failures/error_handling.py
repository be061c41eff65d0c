"""Handling errors of a route's steps: redelivery, `onException`, dead letters."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from penstock.flow.failures.on_exception import DeadLetterChannel, ErrorHandler, OnException
from penstock.flow.failures.redelivery import Redelivery
from penstock.flow.listener import Level
from penstock.flow.pipeline import take_through

if TYPE_CHECKING:
    from penstock.flow.context import FlowContext
    from penstock.flow.exchange import Exchange, Message
    from penstock.flow.step import Step

CAUGHT = "CamelExceptionCaught"
"""The exchange property that holds the error."""

_REDELIVERED = "CamelRedelivered"
_COUNTER = "CamelRedeliveryCounter"
_MOST = "CamelRedeliveryMaxCounter"


class ErrorHandling:
    """What a route does about errors. rules: `onException` in order, the route's own before the others."""

    __slots__ = ("_dead_letters", "_outer", "_redelivers", "_rules")

    def __init__(self, rules: Sequence[OnException], handler: ErrorHandler | None = None) -> None:
        handler = handler or ErrorHandler()
        self._rules = tuple(rules)
        self._dead_letters = handler.dead_letter_channel
        named = handler.dead_letter_channel or handler.default_error_handler
        policy = named.redelivery_policy if named is not None else None
        self._outer = policy.within(Redelivery()) if policy is not None else Redelivery()
        policies = [rule.redelivery_policy for rule in rules]
        self._redelivers = self._outer.maximum_redeliveries != 0 or any(policy is not None for policy in policies)

    @property
    def redelivers(self) -> bool:
        """Whether a step may be done again, so that its message must be kept."""
        return self._redelivers

    async def handle(
        self, step: "Step", error: Exception, exchange: "Exchange", flow: "FlowContext", message: "Message | None"
    ) -> None:
        """Does what is to be done after the step failed. message: what the step was given.

        Returns when the error is mended: the exchange goes on, or has been stopped. Raises the error when it is not.
        """
        attempt, pause = 0, timedelta()
        while True:
            rule, policy = await self._look_at(error, exchange, flow)
            attempt += 1
            if message is None or not policy.allows(attempt):
                break
            self._log_try(policy, attempt, error, exchange, flow)
            pause = policy.pause(pause)
            await asyncio.sleep(pause.total_seconds())
            exchange.take(message)
            _mark(exchange, policy, attempt)
            try:
                await step.process(exchange, flow)
            except Exception as again:  # noqa: BLE001 - it is looked at as the first one was
                error = again
            else:
                return
        await self._give_up(rule, policy, attempt, error, exchange, flow)

    async def _look_at(
        self, error: Exception, exchange: "Exchange", flow: "FlowContext"
    ) -> tuple[OnException | None, Redelivery]:
        """The rule for the error, and how often its step is done again."""
        exchange.properties[CAUGHT] = error
        exchange.properties["CamelFailureRouteId"] = exchange.route
        rule = await self._rule(error, exchange, flow)
        return rule, self._policy(rule)

    async def _rule(self, error: Exception, exchange: "Exchange", flow: "FlowContext") -> OnException | None:
        """The rule whose exception is nearest to the error, the first of several."""
        found: list[tuple[int, int, OnException]] = []
        for place, rule in enumerate(self._rules):
            distance = rule.exception.distance(error)
            if distance is not None and (rule.on_when is None or await rule.on_when.matches(exchange, flow)):
                found.append((distance, place, rule))
        return min(found, key=lambda each: each[:2])[2] if found else None

    def _policy(self, rule: OnException | None) -> Redelivery:
        if rule is None:
            return self._outer
        if rule.redelivery_policy is not None:
            return rule.redelivery_policy.within(self._outer)
        return Redelivery() if rule.steps else self._outer  # as Camel does: who has steps says for himself

    async def _give_up(
        self,
        rule: OnException | None,
        policy: Redelivery,
        attempts: int,
        error: Exception,
        exchange: "Exchange",
        flow: "FlowContext",
    ) -> None:
        dead_letters = self._dead_letters if rule is None or not rule.steps else None
        goes_on = rule is not None and rule.continued is not None and await rule.continued.matches(exchange, flow)
        handled = rule is not None and rule.handled is not None and await rule.handled.matches(exchange, flow)
        mended = goes_on or handled or dead_letters is not None
        if mended:
            for name in (_REDELIVERED, _COUNTER, _MOST):
                exchange.headers.pop(name, None)
        try:
            if dead_letters is not None and not goes_on:
                await self._hand_on(dead_letters, exchange, flow)
            elif rule is not None:
                await self._follow(rule, exchange, flow)
        except Exception as new:
            exchange.exhausted = new
            raise
        if not mended:
            exchange.exhausted = error
            if attempts > 1:
                self._log_exhausted(policy, attempts, error, exchange, flow)
            raise error
        exchange.stopped = exchange.handled = not goes_on

    async def _follow(self, rule: OnException, exchange: "Exchange", flow: "FlowContext") -> None:
        """Takes the exchange through the rule's steps, whose errors nothing handles."""
        self._restore(rule, exchange)
        handling, exchange.handling = exchange.handling, None
        try:
            await take_through(rule.steps, exchange, flow)
        finally:
            exchange.handling = handling

    async def _hand_on(self, channel: DeadLetterChannel, exchange: "Exchange", flow: "FlowContext") -> None:
        self._restore(channel, exchange)
        try:
            await channel.dead_letter_uri.send(exchange, flow)
        except Exception as new:
            if not channel.dead_letter_handle_new_exception:
                raise
            flow.log(Level.ERROR, f"Dead letter could not be handed on: {new}", exchange.route, exchange.id, new)

    def _restore(self, rule: OnException | DeadLetterChannel, exchange: "Exchange") -> None:
        if exchange.original is not None and rule.use_original_message:
            exchange.take(exchange.original)
        elif exchange.original is not None and rule.use_original_body:
            exchange.body = exchange.original.body

    def _log_try(
        self, policy: Redelivery, attempt: int, error: Exception, exchange: "Exchange", flow: "FlowContext"
    ) -> None:
        if policy.log_retry_attempted:
            line = f"Failed delivery. On delivery attempt: {attempt - 1} caught: {error}"
            flow.log(policy.retry_attempted_log_level, line, exchange.route, exchange.id)

    def _log_exhausted(
        self, policy: Redelivery, attempts: int, error: Exception, exchange: "Exchange", flow: "FlowContext"
    ) -> None:
        if policy.log_exhausted:
            line = f"Failed delivery. Exhausted after delivery attempt: {attempts} caught: {error}"
            flow.log(policy.retries_exhausted_log_level, line, exchange.route, exchange.id)


def _mark(exchange: "Exchange", policy: Redelivery, attempt: int) -> None:
    """Tells the step which try it is."""
    exchange.headers[_REDELIVERED] = True
    exchange.headers[_COUNTER] = attempt
    if policy.maximum_redeliveries > 0:
        exchange.headers[_MOST] = policy.maximum_redeliveries
