"""What Java prints when it ends with an exception: many lines that belong together."""

import re

_HEAD = re.compile(r"Exception in thread \"[^\"]*\" ([\w.$]+)(?:: (.*))?")
_CAUSE = re.compile(r"Caused by: ([\w.$]+)(?:: (.*))?")
_PLACE = re.compile(r" \(source: file:[^)]*\)")  # of the agent's own copy, which tells people nothing
_LONGEST = 400


class Crash:
    """A report that grows line by line. reason: what the last cause says, with what it belongs to."""

    def __init__(self, exception: str, message: str) -> None:
        self.exception = exception
        self._message = message
        self._cause = ""
        self._lines = [f"{exception}: {message}"]

    @classmethod
    def begun_by(cls, line: str) -> "Crash | None":
        """None when the line is not the first of a report."""
        match = _HEAD.match(line)
        return cls(match[1], match[2] or "") if match is not None else None

    def takes(self, line: str) -> bool:
        """Whether the line belongs to the report; then it is in it."""
        match = _CAUSE.match(line)
        if match is not None:
            self._cause = match[2] or match[1]
        elif not line.startswith(("\t", " ")):
            return False
        self._lines.append(line)
        return True

    @property
    def reason(self) -> str:
        message = _PLACE.sub("", self._message) or self.exception
        if len(message) > _LONGEST:
            message = f"{message[:_LONGEST]}..."
        if not self._cause or self._cause in message:
            return message
        return f"{message.removesuffix(':').rstrip()}: {self._cause}"

    @property
    def trace(self) -> str:
        return "\n".join(self._lines)
