"""Makes the pages of docs/reference from the code. `make docs` writes them; a test keeps them current."""

from collections.abc import Mapping
from typing import Any

import click

_NOTE = "<!-- Made from the code by `make docs`; do not edit. -->\n"


def api_reference(document: Mapping[str, Any]) -> str:
    """Every operation by area, from the OpenAPI document."""
    by_area: dict[str, list[str]] = {}
    for path, item in document["paths"].items():
        for method, operation in item.items():
            by_area.setdefault(operation["tags"][0], []).append(_operation(method.upper(), path, operation))
    sections = [f"## {area}\n\n" + "\n".join(entries) for area, entries in sorted(by_area.items())]
    about = f"{document['info']['description']}\n\nThe same, to try out: `/docs` on a running server."
    return f"{_NOTE}\n# API\n\n{about}\n\n" + "\n".join(sections)


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> str:
    lines = [f"### {method} {path}", "", f"{operation['summary']}."]
    if "description" in operation:
        lines += ["", operation["description"]]
    roles = ", ".join(operation["x-roles"]) or "nobody needs to be known"
    facts = [f"Role: {roles}"]
    if operation["parameters"]:
        names = [f"`{p['name']}`{'' if p['required'] else ' (optional)'}" for p in operation["parameters"]]
        facts.append(f"Parameters: {', '.join(names)}")
    if "requestBody" in operation:
        facts.append(f"Body: {_schema(operation['requestBody']['content']['application/json']['schema'])}")
    facts += [f"Answer {status}: {_answer(answer)}" for status, answer in _answers(operation)]
    return "\n".join([*lines, "", *(f"- {fact}" for fact in facts), ""])


def _answers(operation: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [(status, answer) for status, answer in operation["responses"].items() if status != "default"]


def _answer(answer: Mapping[str, Any]) -> str:
    content = answer.get("content")
    if not content:
        return "no body"
    media, body = next(iter(content.items()))
    return _schema(body["schema"]) if media == "application/json" else f"`{media}`"


def _schema(schema: Mapping[str, Any]) -> str:
    members = [member for member in schema.get("anyOf", ()) if member != {"type": "null"}]
    if members:
        return _schema(members[0])
    if "$ref" in schema:
        return f"`{schema['$ref'].rsplit('/', 1)[1]}`"
    if schema.get("type") == "array":
        return f"a list of {_schema(schema['items'])}"
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    return f"`{schema.get('format') or schema.get('type', 'any')}`"


def settings_reference(server: str, agent: str, engine: str, gateway: str) -> str:
    """The commented defaults of the programs as they are."""
    return (
        f"{_NOTE}\n# Settings\n\n## Server\n\n```toml\n{server.strip()}\n```\n\n"
        "## Agent\n\nEach is set by an environment variable: PENSTOCK_AGENT_ and the name in capitals.\n\n"
        f"```toml\n{agent.strip()}\n```\n\n"
        "## Interactive engine\n\n"
        "Each is set by an environment variable: PENSTOCK_ENGINE_ and the name in capitals.\n\n"
        f"```toml\n{engine.strip()}\n```\n\n"
        "## API gateway\n\n"
        "Each is set by an environment variable: PENSTOCK_GATEWAY_ and the name in capitals.\n\n"
        f"```toml\n{gateway.strip()}\n```\n"
    )


def kinds_reference(kinds: Mapping[str, Mapping[str, Any]]) -> str:
    """Configuration kinds. kinds: name -> JSON Schema of its spec, with `$defs`."""
    head = f"{_NOTE}\n# Configuration kinds\n\nDocuments for `PUT /configuration` and `penstock apply`.\n\n"
    return head + "\n".join(_kind(name, schema) for name, schema in sorted(kinds.items()))


def _kind(name: str, schema: Mapping[str, Any]) -> str:
    rows = ["| field | type | required | meaning |", "|---|---|---|---|"]
    required = set(schema.get("required", ()))
    for field, kind in schema.get("properties", {}).items():
        need = "yes" if field in required else f"no, `{kind['default']!r}`" if "default" in kind else "no"
        rows.append(f"| `{field}` | {_schema(kind)} | {need} | {kind.get('description', '')} |")
    return "\n".join([f"## {name}", "", schema.get("description", ""), "", *rows, ""])


def cli_reference(group: click.Group) -> str:
    """Each command, and those of its groups, as `--help` shows it."""
    context = click.Context(group, info_name="penstock", terminal_width=100)
    return f"{_NOTE}\n# Command line\n\n" + "\n".join(_command(group, context))


def _command(command: click.Command, context: click.Context) -> list[str]:
    pages = [f"## {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"]
    for name in command.list_commands(context) if isinstance(command, click.Group) else ():
        inner = command.get_command(context, name)
        if inner is not None:
            pages += _command(inner, click.Context(inner, info_name=name, parent=context, terminal_width=100))
    return pages
