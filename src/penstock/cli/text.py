"""Values as text."""

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
