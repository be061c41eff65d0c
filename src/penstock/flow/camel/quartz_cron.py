"""Cron expressions as Camel's scheduler reads them: it counts the days from Sunday and wants one day field open."""

from penstock.kernel.cron_field import DAYS, WEEKDAYS, CronError, CronField

_OPEN = "?"


def quartz_cron(text: str) -> str:
    """The expression with days of the week by name. One that is not Penstock's, like `0 0 12 L * ?`, stays as it is."""
    fields = text.split()
    if not 5 <= len(fields) <= 7:
        return text
    first = 0 if len(fields) == 5 else 1  # the minutes
    day, weekday = first + 2, first + 4
    try:
        any_day, any_weekday = _is_open(DAYS, fields[day]), _is_open(WEEKDAYS, fields[weekday])
        if not any_weekday:
            fields[weekday] = _named(fields[weekday])
    except CronError:
        return text
    if any_weekday:
        fields[day] = "*" if any_day else fields[day]
        fields[weekday] = _OPEN
    else:
        fields[day] = _OPEN
    return " ".join(fields)


def _is_open(field: CronField, text: str) -> bool:
    return field.parse(text).mask == field.every


def _named(text: str) -> str:
    names = [WEEKDAYS.names[value - WEEKDAYS.low] for value in WEEKDAYS.values(WEEKDAYS.parse(text).mask)]
    return ",".join(names)
