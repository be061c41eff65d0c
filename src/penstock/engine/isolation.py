"""How kernels are kept apart from the machine, the platform and each other."""

import os
import secrets
import shutil
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import structlog

from penstock.engine.folders import KernelFolders
from penstock.engine.settings import EngineSettings
from penstock.kernel.errors import Invalid

_log = structlog.get_logger(__name__)

KERNEL_MAIN = Path(__file__).parent / "kernel_main.py"
SEEN_CACHE = "/run/cache"
_FIRST_USER = 600_000_000
_USERS = 10_000
_ENGINES = 100_000
_TRIAL_SECONDS = 10
_MEMORY_FOLDER = 64 << 20  # bytes
_PASSED = ("LANG", "LANGUAGE", "LC_ALL", "TZ")
_PATH = "/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True)
class Command:
    """A command line, and the open files that it needs."""

    line: Sequence[str]
    handles: Sequence[int] = ()


class Isolation(ABC):
    """Gives each kernel its command line. python: the interpreter of Python kernels."""

    def __init__(self, settings: EngineSettings) -> None:
        self.settings = settings
        self.python = settings.python or sys.executable

    @property
    @abstractmethod
    def has_view(self) -> bool:
        """Whether kernels have a file system of their own."""

    @property
    @abstractmethod
    def statements(self) -> Sequence[str]:
        """What holds, and what does not, for people to read."""

    @abstractmethod
    def user(self, number: int) -> int:
        """The user that the kernel of this number runs as; 0 when it runs as the engine does."""

    @abstractmethod
    def command(
        self, folders: KernelFolders, program: Sequence[str], cache: Path | None, *, warming: bool
    ) -> AbstractContextManager[Command]:
        """The command that runs `program` apart. cache: of completion; warming: whether it may write there."""

    def environment(self, folders: KernelFolders, cache: Path | None) -> dict[str, str]:
        """Everything that a kernel knows of the outside; nothing of the platform's."""
        seen = SEEN_CACHE if self.has_view else str(cache)
        if cache is None:
            seen = f"{folders.seen_work}/.cache"
        passed = {name: os.environ[name] for name in _PASSED if name in os.environ}
        home = str(folders.seen_work)
        own = {"HOME": home, "TMPDIR": "/tmp", "XDG_CACHE_HOME": seen, "IPYTHONDIR": f"{folders.seen_sockets}/ipython"}  # noqa: S108 - in bubblewrap it is the kernel's own
        return {"PATH": f"{Path(self.python).parent}:{_PATH}", **passed, **own, "PYTHONDONTWRITEBYTECODE": "1"}


class Limits(Isolation):
    """Resource limits alone: the code runs as the engine's own user and sees what that user sees."""

    has_view = False

    @property
    def statements(self) -> Sequence[str]:
        return (
            "bubblewrap is not used: code runs as the engine's user and can read the files that this user can read",
            "code may use the network",
            "limits of memory, file size and time hold"
            + (", the limit of processes does not hold for root" if os.geteuid() == 0 else ""),
        )

    def user(self, number: int) -> int:
        return 0

    @contextmanager
    def command(
        self, folders: KernelFolders, program: Sequence[str], cache: Path | None, *, warming: bool
    ) -> Iterator[Command]:
        yield Command(program)


class Bubblewrap(Isolation):
    """Namespaces made by bubblewrap, and a user of its own for each kernel where the engine is root."""

    has_view = True

    def __init__(self, settings: EngineSettings, program: str) -> None:
        super().__init__(settings)
        self._program = program
        self._root = os.geteuid() == 0
        self._readable = [Path(folder).absolute() for folder in settings.readable]
        # Limits of processes count by user: the kernels of two engines on one machine must not be the same ones.
        self._first_user = _FIRST_USER + secrets.randbelow(_ENGINES) * _USERS

    @property
    def statements(self) -> Sequence[str]:
        return (
            "bubblewrap: code sees a read-only system without the platform's files, its own processes only, and a "
            "working folder of its own",
            "no capabilities; " + ("a user of its own" if self._root else "a user namespace of its own"),
            "the network is open to code" if self.settings.network else "no network",
            "limits of memory, processes, file size, output and time hold",
        )

    def user(self, number: int) -> int:
        return self._first_user + number % _USERS if self._root else 0

    @contextmanager
    def command(
        self, folders: KernelFolders, program: Sequence[str], cache: Path | None, *, warming: bool
    ) -> Iterator[Command]:
        # Code sees this command as its first process, and the machine's folders are none of its business.
        handle = os.memfd_create("arguments")
        try:
            os.write(handle, b"\0".join(os.fsencode(part) for part in self._view(folders, program, cache, warming)))
            os.lseek(handle, 0, os.SEEK_SET)
            yield Command((self._program, "--args", str(handle), "--", *program), (handle,))
        finally:
            os.close(handle)

    def _view(self, folders: KernelFolders, program: Sequence[str], cache: Path | None, warming: bool) -> Sequence[str]:
        shown = [] if cache is None else ["--bind" if warming else "--ro-bind", str(cache), SEEN_CACHE]
        return [
            *self._namespaces(),
            *_system(),
            *_shown([*_prefixes(self.python), *self._readable, *_programs(program)]),
            *("--ro-bind", str(KERNEL_MAIN), str(KERNEL_MAIN)),
            *("--bind", str(folders.sockets), str(folders.seen_sockets)),
            *("--bind", str(folders.work), str(folders.seen_work)),
            *shown,
            *("--chdir", "/"),
        ]

    def works(self) -> str | None:
        """Why it cannot be used here; None when it can."""
        trial = [
            self._program,
            *self._namespaces(),
            *_system(),
            *_shown(_prefixes(self.python)),
            "--",
            self.python,
            "-c",
            "",
        ]
        try:
            tried = subprocess.run(trial, capture_output=True, timeout=_TRIAL_SECONDS, check=False)  # noqa: S603
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        return None if tried.returncode == 0 else tried.stderr.decode(errors="replace").strip() or "it fails"

    def _namespaces(self) -> list[str]:
        own = ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--hostname", "kernel"]
        own += [] if self.settings.network else ["--unshare-net"]
        own += ["--die-with-parent", "--new-session", "--cap-drop", "ALL"]
        if self._root:
            # To become the kernel's user, whereupon they are gone.
            return [*own, "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
        return [*own, "--unshare-user", "--uid", "1000", "--gid", "1000"]


def find_isolation(settings: EngineSettings) -> Isolation:
    """The best that works here. Raises Invalid when bubblewrap is demanded and does not work."""
    if settings.isolation == "limits":
        return Limits(settings)
    program = shutil.which("bwrap")
    isolation = Bubblewrap(settings, program) if program else None
    problem = isolation.works() if isolation is not None else "it is not installed"
    if isolation is not None and problem is None:
        return isolation
    if settings.isolation == "bubblewrap":
        raise Invalid.one("PENSTOCK_ENGINE_ISOLATION", f"bubblewrap cannot be used: {problem}")
    _log.warning("code runs with limits alone, bubblewrap cannot be used", reason=problem)
    return Limits(settings)


def _system() -> list[str]:
    """The operating system without its settings, homes and data."""
    shown = ["--ro-bind", "/usr", "/usr"]
    for name in ("bin", "sbin", "lib", "lib32", "lib64"):
        path = Path("/", name)
        if path.is_symlink():
            shown += ["--symlink", os.readlink(path), str(path)]
        elif path.is_dir():
            shown += ["--ro-bind", str(path), str(path)]
    shown += ["--perms", "0755", "--dir", "/etc"]
    for name in ("alternatives", "ca-certificates", "hosts", "ld.so.cache", "localtime", "nsswitch.conf", "ssl"):
        shown += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    shown += ["--ro-bind-try", os.path.realpath("/etc/resolv.conf"), "/etc/resolv.conf"]
    return [*shown, "--proc", "/proc", "--dev", "/dev", *_memory_folder("/dev/shm"), *_memory_folder("/tmp")]  # noqa: S108


def _memory_folder(path: str) -> list[str]:
    return ["--perms", "1777", "--size", str(_MEMORY_FOLDER), "--tmpfs", path]


def _shown(wanted: Sequence[Path]) -> list[str]:
    """Files and folders, wherever they are, read-only; folders on the way show nothing else."""
    distinct = sorted({path for path in wanted if Path("/usr") not in (path, *path.parents)})
    outermost = [path for path in distinct if not any(other in path.parents for other in distinct)]
    way = {parent for path in (*outermost, KERNEL_MAIN, Path("/run/x")) for parent in path.parents}
    made = [part for path in sorted(way - {Path("/")}) for part in ("--perms", "0755", "--dir", str(path))]
    return [*made, *(part for path in outermost for part in ("--ro-bind", str(path), str(path)))]


def _prefixes(python: str) -> list[Path]:
    """The folders of an interpreter: of its environment, and of the installation beneath."""
    found = [Path(python).absolute().parent.parent, Path(os.path.realpath(python)).parent.parent]
    if python == sys.executable:
        found += [Path(sys.prefix), Path(sys.base_prefix), Path(sys.exec_prefix)]
    return found


def _programs(command: Sequence[str]) -> list[Path]:
    """The files that a kernel's command names."""
    return [Path(part) for part in command if part.startswith("/") and Path(part).is_file()]
