"""The program of kernels: gives up rights, then becomes a Jupyter kernel, of Python or of the command given.

Run by path, with any Python that has ipykernel: it imports nothing of the platform, which the code that users run
here has no business with. Arguments: the connection file, a JSON object, and the command of any other kernel:

uid: run as this user and group; 0 stays who it is. memory: bytes of data that a process may have. processes: how many
processes and threads the user may have. file_size: bytes of the largest file. message: bytes of the largest message.
with_parent: whether to end with whoever started it. folder: to work in.
"""

import contextlib
import ctypes
import gc
import json
import math
import os
import resource
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from importlib.machinery import PathFinder
from typing import Any

_PR_SET_PDEATHSIG = 1
_PR_SET_NO_NEW_PRIVS = 38
_OPEN_FILES = 1024
_NICE = 5  # the platform goes first
_RESERVED = 1 << 30  # bytes that runtimes such as V8 take ahead; what they use of it is the engine's to watch
_MOST_PLAIN = 1 << 20  # characters, roughly
_DEEPEST = 50
_READ = 1 << 16  # bytes, of a pipe
_MOST_READS = 16  # a pipe holds no more


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


class SparedCache:
    """What completion learns of modules is kept for all kernels, who may only read it; parso fails over that.

    It is told so when it is loaded, which scripts have no need of.
    """

    module = "parso.grammar"

    def find_spec(self, name: str, path: Any = None, _: Any = None) -> Any:
        if name != self.module:
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module
            spec.loader.exec_module = lambda module: self._patch(load, module)  # type: ignore[method-assign]
        return spec

    def _patch(self, load: Callable[[Any], None], module: Any) -> None:
        load(module)
        save = module.try_to_save_module

        def save_if_allowed(*arguments: Any, **options: Any) -> None:
            with contextlib.suppress(OSError):
                save(*arguments, **options)

        module.try_to_save_module = save_if_allowed


@contextlib.contextmanager
def no_debugger() -> Iterator[None]:
    """A kernel made within has none: nobody reaches it here, and loading it is a quarter of a start."""
    sys.modules["debugpy"] = None  # type: ignore[assignment]
    yield
    del sys.modules["debugpy"]


def flush_what_there_is() -> None:
    """Flushing is quick when nothing was written, and takes along what went to the file descriptors themselves.

    Of those ipykernel's own threads may read the last words after the cell has ended, when nobody listens any more.
    """
    from ipykernel.iostream import OutStream

    flush = OutStream.flush
    reading = threading.Lock()

    def take(stream: Any) -> bool:
        """Whether more may come."""
        with reading, contextlib.suppress(BlockingIOError):
            for _ in range(_MOST_READS):
                chunk = os.read(stream._fid, _READ)
                if not chunk or not stream._should_watch:
                    return False
                with contextlib.suppress(OSError):  # more than it may: the engine knows
                    stream.write(chunk.decode(errors="replace"))
                os.write(stream._original_stdstream_copy, chunk)
        return True

    def watch(self: Any) -> None:
        os.set_blocking(self._fid, False)
        arrived = select.poll()
        arrived.register(self._fid, select.POLLIN)
        while arrived.poll() and take(self):
            pass

    def flush_written(self: Any) -> None:
        if os.getpid() == self._master_pid and self._should_watch:
            take(self)
            if not self._flush_pending:
                return
        flush(self)  # type: ignore[no-untyped-call]

    OutStream._watch_pipe_fd = watch  # type: ignore[method-assign]
    OutStream.flush = flush_written  # type: ignore[method-assign]


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


def collect_less(kernel: Any) -> None:
    """What the first completion loads stays, and is too much to be looked through for garbage ever again."""
    complete = kernel.do_complete

    def complete_first(*arguments: Any) -> Any:
        kernel.do_complete = complete
        gc.collect()
        gc.disable()
        try:
            return complete(*arguments)
        finally:
            gc.freeze()
            gc.enable()

    kernel.do_complete = complete_first


def warm_up(shell: Any) -> None:
    """Runs what every first run needs, so that it is loaded; leaves nothing behind."""
    before = set(shell.user_ns)
    shell.run_cell("print(end='')\n[{'a': 'b'}, 1.5]", store_history=False)
    for name in set(shell.user_ns) - before:
        del shell.user_ns[name]
    gc.freeze()  # what is loaded stays; there is no use in looking through it
    shell.displayhook.flush()


def main() -> None:
    gc.disable()
    connection_file, limits = sys.argv[1], json.loads(sys.argv[2])
    if sys.argv[3:]:
        limits["memory"] += _RESERVED
    give_up_rights(limits)
    if sys.argv[3:]:
        os.execvp(sys.argv[3], sys.argv[3:])  # noqa: S606 - as the kernel's specification says
    bound_messages(limits["message"])
    sys.meta_path.insert(0, SparedCache())
    from ipykernel.kernelapp import IPKernelApp
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False
    config.IPCompleter.jedi_compute_type_timeout = 1500  # milliseconds
    config.IPythonKernel._execute_sleep = 0  # the engine waits for the last output, not for the reply alone
    config.InteractiveShell.colors = "NoColor"
    config.InteractiveShell.xmode = "Plain"
    app = IPKernelApp.instance(config=config)
    flush_what_there_is()
    with no_debugger():
        app.initialize(["-f", connection_file])  # type: ignore[no-untyped-call]
    show_plain_values_as_json(app.shell)
    bound_output(app.shell, 2 * limits["message"])
    collect_less(app.kernel)
    warm_up(app.shell)
    gc.enable()
    sys.argv = [""]
    with contextlib.suppress(KeyboardInterrupt):
        app.start()  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    main()
