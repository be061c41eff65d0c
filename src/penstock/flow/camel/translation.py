"""A flow's text as Camel is to read it: where Penstock's meaning differs, it is written in Camel's way."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from penstock.flow.camel.quartz_cron import quartz_cron
from penstock.flow.parsing.endpoint_uri import EndpointUri

KEY = "penstock.var."
"""What a variable's name begins with among Camel's properties."""

_VARIABLE = re.compile(r"(?<!\\)((?:\\\\)*)\{\{var:([A-Za-z0-9][A-Za-z0-9._-]{0,127})\}\}", re.ASCII)
_DATA_SOURCE = re.compile(r"\bdataSource(?:=|['\"]?:\s*['\"]?)#(?:bean:)?([A-Za-z0-9_.-]+)", re.ASCII)
_CRON_IN_URI = re.compile(r"(?P<before>[?&](?:cron|schedule)=)(?P<cron>RAW\([^)]*\)|[^&]*)")
_CRON_SCHEMES = {"quartz": "cron", "cron": "schedule"}


class Translation(NamedTuple):
    """text: for Camel. variables: names that it refers to. data_sources: names of `dataSource` options.

    Not among them are objects that the flow makes itself.
    prefixes: paths of HTTP that are meant with all that begins with them.
    """

    text: str
    variables: frozenset[str]
    data_sources: frozenset[str]
    prefixes: frozenset[str]


class _Edit(NamedTuple):
    begin: int
    end: int
    text: str


def translate(source: str) -> Translation:
    """source: YAML that was parsed before."""
    variables = frozenset(match[2] for match in _VARIABLE.finditer(source))
    root = yaml.compose(source, Loader=yaml.SafeLoader)
    edits: list[_Edit] = []
    data_sources = frozenset(_DATA_SOURCE.findall(source))
    prefixes: set[str] = set()
    beans: set[str] = set()
    for mapping in _mappings(root):
        values = {key.value: value for key, value in mapping.value if isinstance(key, ScalarNode)}
        edits += _cron_edits(values)
        prefixes.update(_prefixes(values))
        beans.update(_beans(values))
    text = source
    for edit in sorted(edits, reverse=True):
        text = text[: edit.begin] + edit.text + text[edit.end :]
    return Translation(_VARIABLE.sub(rf"\1{{{{{KEY}\2}}}}", text), variables, data_sources - beans, frozenset(prefixes))


def _mappings(root: Node | None) -> Iterator[MappingNode]:
    waiting = [root] if root is not None else []
    while waiting:
        node = waiting.pop()
        if isinstance(node, MappingNode):
            yield node
            waiting += [value for _, value in node.value]
        elif isinstance(node, SequenceNode):
            waiting += node.value


def _cron_edits(values: dict[str, Node]) -> Iterator[_Edit]:
    uri = values.get("uri")
    if not isinstance(uri, ScalarNode):
        return
    scheme = uri.value.partition(":")[0]
    option = _CRON_SCHEMES.get(scheme)
    if option is None:
        return
    match = _CRON_IN_URI.search(uri.value)
    if match is not None:
        cron = quartz_cron(match["cron"].removeprefix("RAW(").removesuffix(")").replace("+", " "))
        begin, end = match.span("cron")
        yield _replaced(uri, uri.value[:begin] + cron.replace(" ", "+") + uri.value[end:])
    parameters = values.get("parameters")
    if isinstance(parameters, MappingNode):
        for key, value in parameters.value:
            if key.value == option and isinstance(value, ScalarNode):
                yield _replaced(value, quartz_cron(value.value))


def _replaced(node: ScalarNode, text: str) -> _Edit:
    quoted = yaml.dump(text, default_style='"', width=1 << 20, allow_unicode=True).rstrip("\n")
    return _Edit(node.start_mark.index, node.end_mark.index, quoted)


def _beans(values: dict[str, Node]) -> Iterator[str]:
    """Objects that the flow makes itself."""
    name = values.get("name")
    if isinstance(name, ScalarNode) and ("type" in values or "script" in values):
        yield name.value


def _prefixes(values: dict[str, Node]) -> Iterator[str]:
    uri = values.get("uri")
    if not isinstance(uri, ScalarNode):
        return
    parsed = EndpointUri.parse(uri.value)
    if parsed.scheme != "platform-http":
        return
    options = dict(parsed.query)
    parameters = values.get("parameters")
    if isinstance(parameters, MappingNode):
        options |= {key.value: value.value for key, value in parameters.value if isinstance(value, ScalarNode)}
    if options.get("matchOnUriPrefix", "").lower() == "true" or parsed.path.endswith("*"):
        yield f"/{parsed.path.lstrip('/')}".rstrip("*")
