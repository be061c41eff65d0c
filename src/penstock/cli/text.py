"""Values as text."""

import re
from typing import Any

import msgspec


def as_yaml(value: Any) -> str:
    """Plain values as YAML; several lines of text as a block."""
    import yaml

    class Dumper(yaml.SafeDumper):
        pass

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)

    Dumper.add_representer(str, text)
    return yaml.dump(value, Dumper=Dumper, sort_keys=False, allow_unicode=True, default_flow_style=False)


def as_json(value: Any) -> str:
    """Indented JSON."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def as_line(value: Any) -> str:
    """JSON on one line."""
    return msgspec.json.encode(value).decode()


def visible(text: str) -> str:
    """The text without power over a terminal: what others wrote may hold control characters, which are spelt out."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text.replace("\r\n", "\n"))


_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
