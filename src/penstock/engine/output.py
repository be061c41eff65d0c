"""What a run shows."""

import re
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

STDOUT = "application/vnd.code.notebook.stdout"
STDERR = "application/vnd.code.notebook.stderr"
ERROR = "application/vnd.code.notebook.error"
TEXT = "text/plain"
JSON = "application/json"

_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_FRAME = re.compile(r'\s*File "?([^"\n:]+)')
_PACKAGES = re.compile(r"/\S*/(?:site-packages|dist-packages|lib/python\d\.\d+)/")
_HIDDEN = re.compile(r"/(?:site-packages|dist-packages)/(?:IPython|ipykernel|tornado)/|/kernel_main\.py")
_LONGEST_TRACEBACK = 100_000


class Output(msgspec.Struct, frozen=True, kw_only=True):
    """One piece of output.

    data: by media type; texts, or values of JSON for JSON types. display: another output with the same one takes the
    place of this. cut: the kernel shortened it, because no message is that large.
    """

    kind: Literal["stream", "display", "result", "error"]
    data: Mapping[str, Any]
    display: str | None = None
    cut: bool = False

    @property
    def size(self) -> int:
        """Bytes, roughly; a text that goes by several media types counts once."""
        if self.kind == "stream":
            return len(str(self.data[TEXT]))
        return sum(
            len(value) if isinstance(value, str) else len(msgspec.json.encode(value)) for value in self.data.values()
        )


def stream(name: str, text: str, *, cut: bool = False) -> Output:
    """name: stdout or stderr."""
    return Output(kind="stream", data={STDERR if name == "stderr" else STDOUT: text, TEXT: text}, cut=cut)


def error(name: str, message: str, trace: str) -> Output:
    """trace: the whole text for people."""
    return Output(kind="error", data={ERROR: {"name": name, "message": message, "stack": trace}, TEXT: trace})


def cleaned(traceback: list[str]) -> str:
    """A traceback of the code alone: no colours, no frames of the machinery, no folders of the machine."""
    parts = [_ANSI.sub("", part).rstrip("\n") for part in traceback]
    shown = [part for part in parts if not ((frame := _FRAME.match(part)) and _HIDDEN.search(frame[1]))]
    return _PACKAGES.sub("", "\n".join(shown))[:_LONGEST_TRACEBACK]


def from_message(kind: str, content: Mapping[str, Any]) -> Output | None:
    """The output that a message of a kernel's iopub channel carries, if it carries one."""
    match kind:
        case "stream":
            return stream(str(content.get("name")), str(content.get("text", "")), cut="cut" in content)
        case "display_data" | "update_display_data" | "execute_result":
            display = (content.get("transient") or {}).get("display_id")
            shown: Literal["display", "result"] = "result" if kind == "execute_result" else "display"
            data = _bundle(content.get("data"))
            return Output(kind=shown, data=data, display=display and str(display), cut="cut" in content)
        case "error":
            trace = cleaned([str(part) for part in content.get("traceback") or ()])
            return error(str(content.get("ename") or "Error"), str(content.get("evalue")), trace)
    return None


def _bundle(data: Any) -> dict[str, Any]:
    if not isinstance(data, dict):
        return {}
    return {str(name): value for name, value in data.items()}
