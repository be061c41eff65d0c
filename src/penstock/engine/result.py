"""What comes of a run: its outputs put together, and the one that answers for it."""

from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import msgspec

from penstock.engine.message import Finished, Frame, Made, Produced
from penstock.engine.output import ERROR, JSON, STDERR, STDOUT, TEXT, Output
from penstock.kernel.errors import PenstockError

_RICHEST_FIRST = (JSON, "image/png", "image/jpeg", "image/svg+xml", "text/html", "text/markdown", TEXT)


class RunFailed(PenstockError):
    """The code failed, or went over a limit; the detail is its traceback, or the reason."""

    code = "run-failed"
    title = "The code failed"


class Rendering(msgspec.Struct, frozen=True):
    """An output in one of its media types. body: bytes for images, else a text in UTF-8."""

    media_type: str
    text: str

    @property
    def body(self) -> bytes:
        if self.media_type.startswith("image/") and self.media_type != "image/svg+xml":
            try:
                return b64decode(self.text)
            except (Base64Error, ValueError):
                pass
        return self.text.encode()


def rendered(output: Output, preferred: str | None = None) -> Rendering:
    """The output in the preferred media type, else in the one that says most."""
    data = output.data
    if output.kind == "error":
        return Rendering(ERROR if preferred != TEXT else TEXT, _text(data.get(TEXT, "")))
    value = data.get(JSON)
    if preferred == TEXT and isinstance(value, str):
        return Rendering(TEXT, value)  # not as Python quotes it
    if preferred is not None and preferred in data:
        return Rendering(preferred, _text(data[preferred], json=_is_json(preferred)))
    media_type = next((name for name in _RICHEST_FIRST if name in data), None) or next(iter(data), TEXT)
    return Rendering(media_type, _text(data.get(media_type, ""), json=_is_json(media_type)))


def value_of(output: Output) -> Any:
    """The output as a value of JSON: itself, or its text."""
    for media_type in (ERROR, JSON):
        if media_type in output.data:
            return output.data[media_type]
    return output.data.get(TEXT)


class Results:
    """Takes the frames of a run. Texts that follow each other on one stream become one output."""

    def __init__(self) -> None:
        self.outputs: list[Output] = []
        self.files: list[Made] = []
        self.error: str | None = None
        self.duration = timedelta()

    def take(self, frame: Frame) -> None:
        match frame:
            case Produced(output=output):
                self._add(output)
            case Made():
                self.files.append(frame)
            case Finished(seconds=seconds, error=error):
                self.error = error
                self.duration = timedelta(seconds=seconds)

    def answer(self, preferred: str | None) -> Rendering:
        """The last result, else the last thing shown, else what was printed. Raises RunFailed."""
        if self.trace is not None:
            raise RunFailed(self.trace)
        for kind in ("result", "display"):
            found = [output for output in self.outputs if output.kind == kind]
            if found:
                return rendered(found[-1], preferred)
        printed = [str(output.data[TEXT]) for output in self.outputs if STDOUT in output.data]
        return Rendering(TEXT, "".join(printed))

    @property
    def trace(self) -> str | None:
        """The whole text of the error that ended the run; None when it succeeded."""
        if self.error is None:
            return None
        errors = [output for output in self.outputs if output.kind == "error"]
        return str(errors[-1].data.get(TEXT)) if errors else self.error

    def _add(self, output: Output) -> None:
        last = self.outputs[-1] if self.outputs else None
        if output.display is not None:
            for index, earlier in enumerate(self.outputs):
                if earlier.display == output.display:
                    self.outputs[index] = output
                    return
        if last is not None and _follows(output, last):
            data = {name: f"{last.data[name]}{text}" for name, text in output.data.items()}
            self.outputs[-1] = msgspec.structs.replace(last, data=data)
        else:
            self.outputs.append(output)


def bundle(output: Output) -> Sequence[tuple[str, str]]:
    """All forms of the output as texts, by media type."""
    return [(name, _text(value, json=_is_json(name) or name == ERROR)) for name, value in output.data.items()]


def _follows(output: Output, last: Output) -> bool:
    return output.kind == last.kind == "stream" and (STDERR in output.data) == (STDERR in last.data)


def _is_json(media_type: str) -> bool:
    return media_type == JSON or media_type.endswith("+json")


def _text(value: Any, *, json: bool = False) -> str:
    return value if isinstance(value, str) and not json else msgspec.json.encode(value).decode()
