"""Reading of server-sent events (the event stream format of the HTML standard)."""

from collections.abc import Iterable, Iterator


def events_of(lines: Iterable[str]) -> Iterator[str]:
    """The data of each complete event; comments, ids and other fields are passed over."""
    data: list[str] = []
    for line in lines:
        if not line:
            if data:
                yield "\n".join(data)
            data = []
            continue
        field, _, value = line.partition(":")
        if field == "data":
            data.append(value.removeprefix(" "))
