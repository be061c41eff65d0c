"""What runs in the process of a `python` step: reads messages as lines of JSON, changes them, answers them.

Needs nothing but Python's own library: the process has another environment than the platform.
The first line names the code.
"""

import contextlib
import io
import json
import os
import sys
import traceback
from types import CodeType
from typing import Any

_MOST_PRINTED = 16_384  # characters


def serve(source: str, is_expression: bool) -> None:
    """Answers one line for each that comes."""
    code = compile(source, "<python step>", "eval" if is_expression else "exec")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the code starts must not write between the answers
    for line in sys.stdin:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            answer = answered(code, is_expression, json.loads(line))
        answer["printed"] = printed.getvalue()[-_MOST_PRINTED:].splitlines()
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def answered(code: CodeType, is_expression: bool, message: dict[str, Any]) -> dict[str, Any]:
    """The message as the code leaves it, or the error."""
    names = {"__name__": "__python_step__", **message}
    try:
        value = eval(code, names)  # noqa: S307 - running the flow's own code is what this process is for
        if is_expression:
            names["body"] = value
        changed = {name: names.get(name) for name in ("body", "headers", "properties")}
        json.dumps(changed)
    except BaseException as error:  # noqa: BLE001 - whatever the flow's code raises is told to the flow
        own = error.__traceback__.tb_next if error.__traceback__ is not None else None
        trace = "".join(traceback.format_exception(type(error), error, own))
        return {"error": str(error), "lineage": [kind.__name__ for kind in type(error).__mro__], "trace": trace}
    return changed


if __name__ == "__main__":
    first = json.loads(sys.stdin.readline())
    serve(first["source"], first["is_expression"])
