"""Prints each capability's ratio to the bare part beneath it: `python -m bench [NAME ...]`."""

import asyncio
import sys
from importlib import import_module
from pkgutil import iter_modules

import bench


def names() -> list[str]:
    """The modules that measure something."""
    found = [module.name for module in iter_modules(bench.__path__) if not module.name.startswith("_")]
    return [name for name in found if hasattr(import_module(f"bench.{name}"), "TITLE")]


def main(wanted: list[str]) -> int:
    known = names()
    unknown = set(wanted) - set(known)
    if unknown:
        print(f"no such benchmark: {', '.join(sorted(unknown))}; there are: {', '.join(known)}", file=sys.stderr)
        return 2
    for name in wanted or known:
        module = import_module(f"bench.{name}")
        print(f"\n{module.TITLE}", flush=True)
        rows = asyncio.run(module.run())
        width = max(len(label) for label, _ in rows)
        for label, value in rows:
            print(f"  {label:<{width}}  {value}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
