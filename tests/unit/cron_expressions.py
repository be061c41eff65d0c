"""Hypothesis strategies for cron expressions that come with their meaning, made without the parser."""

from dataclasses import dataclass, replace
from datetime import datetime

from hypothesis import strategies as st

MONTH_NAMES = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
DAY_NAMES = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")


@dataclass(frozen=True)
class Field:
    text: str
    values: frozenset[int]
    spans: bool


@dataclass(frozen=True)
class Expression:
    seconds: Field
    minutes: Field
    hours: Field
    days: Field
    months: Field
    weekdays: Field

    @property
    def text(self) -> str:
        fields = (self.seconds, self.minutes, self.hours, self.days, self.months, self.weekdays)
        return " ".join(field.text for field in fields)

    def matches(self, local: datetime) -> bool:
        return (
            local.second in self.seconds.values
            and local.minute in self.minutes.values
            and local.hour in self.hours.values
            and local.day in self.days.values
            and local.month in self.months.values
            and local.isoweekday() in self.weekdays.values
        )


def only(text: str, *values: int) -> st.SearchStrategy[Field]:
    return st.just(Field(text, frozenset(values), spans=False))


ANY_DAY = st.sampled_from(["*", "?"]).map(lambda text: Field(text, frozenset(range(1, 32)), spans=True))
ANY_WEEKDAY = st.sampled_from(["*", "?"]).map(lambda text: Field(text, frozenset(range(1, 8)), spans=True))


@st.composite
def elements(draw: st.DrawFn, low: int, high: int, names: tuple[str, ...] = ()) -> Field:
    """One list element, with the values it names found by walking from its first to its last."""
    everything = range(low, high + 1)
    first, last = draw(st.sampled_from(everything)), draw(st.sampled_from(everything))
    step = draw(st.one_of(st.none(), st.integers(1, high)))
    text = _write(draw, first, low, names)
    match draw(st.sampled_from(["star", "value", "range"])):
        case "star":
            first, last, text = low, high, "*"
        case "value":
            last = first if step is None else high
        case "range":
            text += "-" + _write(draw, last, low, names)
    walk = [first]
    while walk[-1] != last:
        walk.append(walk[-1] + 1 if walk[-1] < high else low)
    return Field(
        text if step is None else f"{text}/{step}", frozenset(walk[::step]), spans=set(walk) == set(everything)
    )


def _write(draw: st.DrawFn, value: int, low: int, names: tuple[str, ...]) -> str:
    forms = [str(value), f"{value:02d}"]
    if names:
        name = names[value - low]
        forms += [name, name.lower(), name.title()]
    return draw(st.sampled_from(forms))


@st.composite
def fields(draw: st.DrawFn, low: int, high: int, names: tuple[str, ...] = ()) -> Field:
    parts = draw(st.lists(elements(low, high, names), min_size=1, max_size=3))
    values = frozenset().union(*(part.values for part in parts))
    spans = len(values) == high - low + 1 or any(part.spans for part in parts)
    return Field(",".join(part.text for part in parts), values, spans)


MINUTE_OR_SECOND = fields(0, 59)
HOUR = fields(0, 23)
MONTH = fields(1, 12, MONTH_NAMES)


@st.composite
def expressions(
    draw: st.DrawFn,
    seconds: st.SearchStrategy[Field] = MINUTE_OR_SECOND,
    minutes: st.SearchStrategy[Field] = MINUTE_OR_SECOND,
    hours: st.SearchStrategy[Field] = HOUR,
    months: st.SearchStrategy[Field] = MONTH,
) -> Expression:
    """Expressions that are due at some time: at most one day field leaves days out, and a month has the days."""
    by_weekday = draw(st.booleans())
    expression = Expression(
        seconds=draw(seconds),
        minutes=draw(minutes),
        hours=draw(hours),
        days=draw(ANY_DAY if by_weekday else ANY_DAY | fields(1, 31)),
        months=draw(months),
        weekdays=draw(ANY_WEEKDAY | fields(1, 7, DAY_NAMES) if by_weekday else ANY_WEEKDAY),
    )
    if min(expression.days.values) > 28:
        january = Field(f"{expression.months.text},1", expression.months.values | {1}, expression.months.spans)
        return replace(expression, months=january)
    return expression
