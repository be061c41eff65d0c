"""The program of kernels: gives up rights, then becomes a Jupyter kernel, of Python or of the command given.

Run by path, with any Python that has ipykernel: it imports nothing of the platform, which the code that users run
here has no business with. Arguments: the connection file, a JSON object, and the command of any other kernel:

uid: run as this user and group; 0 stays who it is. memory: bytes of data that a process may have. processes: how many
processes and threads the user may have. file_size: bytes of the largest file. message: bytes of the largest message.
with_parent: whether to end with whoever started it. folder: to work in.
"""

import contextlib
import ctypes
import json
import math
import os
import resource
import signal
import sys
from typing import Any

_PR_SET_PDEATHSIG = 1
_PR_SET_NO_NEW_PRIVS = 38
_OPEN_FILES = 1024
_NICE = 5  # the platform goes first
_RESERVED = 1 << 30  # bytes that runtimes such as V8 take ahead; what they use of it is the engine's to watch
_MOST_PLAIN = 1 << 20  # characters, roughly
_DEEPEST = 50


def give_up_rights(limits: dict[str, Any]) -> None:
    """From here on nothing can be had back."""
    libc = ctypes.CDLL(None)
    for kind, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_DATA, limits["memory"]),
        (resource.RLIMIT_FSIZE, limits["file_size"]),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
        (resource.RLIMIT_NPROC, limits["processes"]),
    ):
        _, hard = resource.getrlimit(kind)
        wanted = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (wanted, wanted))
    if limits["uid"]:
        os.setgroups([])
        os.setresgid(limits["uid"], limits["uid"], limits["uid"])
        os.setresuid(limits["uid"], limits["uid"], limits["uid"])
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if limits["with_parent"]:
        # Forgotten by the kernel when the user changes, so it comes last.
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    os.umask(0o077)
    os.nice(_NICE)
    os.chdir(limits["folder"])
    # A write beyond the largest file is an error to the code, not its end.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


def bound_messages(most: int) -> None:
    """Messages that are too large for the engine are cut here, where it can be said; the engine refuses them."""
    import zmq
    from jupyter_client.session import Session

    # Without copies messages need a thread, which a kernel at its limit cannot start.
    zmq.Socket.copy_threshold = sys.maxsize
    serialize = Session.serialize

    def bounded(self: Any, message: dict[str, Any], ident: Any = None) -> list[bytes]:
        parts = serialize(self, message, ident)
        if sum(map(len, parts)) <= most:
            return parts
        content = message.get("content", {})
        if isinstance(content.get("text"), str):
            content = {**content, "text": content["text"][: most // 8]}
        elif isinstance(content.get("data"), dict):
            content = {**content, "data": {}}
        return serialize(self, {**message, "content": content, "metadata": {"penstock_cut": True}}, ident)

    Session.serialize = bounded  # type: ignore[method-assign, assignment]


def bound_output(shell: Any, most: int) -> None:
    """What a cell prints is bounded here too: what waits to be sent is memory."""
    from ipykernel.iostream import OutStream

    write = OutStream.write
    written = 0

    def counted(self: Any, text: str) -> int | None:
        nonlocal written
        room = most - written
        written += len(text)
        if written > most:
            write(self, text[: max(room, 0)])
            raise OSError(f"the run writes more than {most} characters")
        return write(self, text)

    def reset(*_: Any) -> None:
        nonlocal written
        written = 0

    OutStream.write = counted  # type: ignore[method-assign, assignment]
    shell.events.register("pre_run_cell", reset)


def spare_cache() -> None:
    """What completion learns of modules is kept for all kernels, who may only read it; parso fails over that."""
    from parso import grammar

    name = "try_to_save_module"
    save = getattr(grammar, name)

    def save_if_allowed(*arguments: Any, **options: Any) -> None:
        with contextlib.suppress(OSError):
            save(*arguments, **options)

    setattr(grammar, name, save_if_allowed)


def show_plain_values_as_json(shell: Any) -> None:
    """Results that JSON can say are shown as JSON too."""
    format_ = shell.display_formatter.format

    def formatted(value: Any, *arguments: Any, **options: Any) -> Any:
        data, metadata = format_(value, *arguments, **options)
        if data and "application/json" not in data and PlainValue().holds(value):
            # As it is now: it may change, or come to hold itself, before it is sent.
            data["application/json"] = json.loads(json.dumps(value))
        return data, metadata

    shell.display_formatter.format = formatted


class PlainValue:
    """Whether JSON says exactly a value, as long as it is of a size that somebody reads."""

    def __init__(self) -> None:
        self._left = _MOST_PLAIN

    def holds(self, value: Any, depth: int = 0) -> bool:
        self._left -= len(value) if isinstance(value, str) else 8
        if self._left < 0 or depth > _DEEPEST:
            return False
        if value is None or type(value) in (bool, str, int):
            return True
        if type(value) is float:
            return math.isfinite(value)
        if type(value) is dict:
            return all(type(key) is str and self.holds(each, depth + 1) for key, each in value.items())
        return type(value) in (list, tuple) and all(self.holds(each, depth + 1) for each in value)


def warm_up(shell: Any) -> None:
    """Runs what every first run needs, so that it is loaded; leaves nothing behind."""
    before = set(shell.user_ns)
    shell.run_cell("print(end='')\n[{'a': 'b'}, 1.5]", store_history=False)
    for name in set(shell.user_ns) - before:
        del shell.user_ns[name]
    shell.displayhook.flush()


def main() -> None:
    connection_file, limits = sys.argv[1], json.loads(sys.argv[2])
    if sys.argv[3:]:
        limits["memory"] += _RESERVED
    give_up_rights(limits)
    if sys.argv[3:]:
        os.execvp(sys.argv[3], sys.argv[3:])  # noqa: S606 - as the kernel's specification says
    bound_messages(limits["message"])
    spare_cache()
    from ipykernel.kernelapp import IPKernelApp
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False
    config.IPCompleter.jedi_compute_type_timeout = 1500  # milliseconds
    config.InteractiveShell.colors = "NoColor"
    config.InteractiveShell.xmode = "Plain"
    app = IPKernelApp.instance(config=config)
    app.initialize(["-f", connection_file])  # type: ignore[no-untyped-call]
    show_plain_values_as_json(app.shell)
    bound_output(app.shell, 2 * limits["message"])
    warm_up(app.shell)
    sys.argv = [""]
    with contextlib.suppress(KeyboardInterrupt):
        app.start()  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    main()
