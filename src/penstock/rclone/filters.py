"""Filters of a transfer: one glob per line."""

from penstock.kernel.errors import FieldError

_LONGEST = 1024
_MOST = 1000


def read_filters(text: str) -> tuple[list[str], list[FieldError]]:
    """rclone's rules for the lines, the first that matches wins, and everything that is wrong with them.

    A line is a glob of files to take; with `- ` before it, of files to leave out; `# ` begins a remark. When any
    line takes files, others are left out.
    """
    rules: list[str] = []
    errors: list[FieldError] = []
    takes = False
    for number, line in enumerate(text.splitlines(), 1):
        glob = line.strip()
        if not glob or glob.startswith("#"):
            continue
        sign, pattern = ("-", glob[2:].strip()) if glob.startswith("- ") else ("+", glob.removeprefix("+ ").strip())
        problem = _problem(pattern)
        if problem is not None:
            errors.append(FieldError("Filters", f"line {number}: {problem}"))
            continue
        takes = takes or sign == "+"
        rules.append(f"{sign} {pattern}")
    if len(rules) > _MOST:
        errors.append(FieldError("Filters", f"must be at most {_MOST} lines"))
    return [*rules, "- *"] if takes else rules, errors


def _problem(pattern: str) -> str | None:
    if not pattern or len(pattern) > _LONGEST:
        return f"must be a glob of at most {_LONGEST} characters"
    for opening, closing in ("{}", "[]"):
        if pattern.count(opening) != pattern.count(closing):
            return f"'{opening}' and '{closing}' must come in pairs"
    return None
