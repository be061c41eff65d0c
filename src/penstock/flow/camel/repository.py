"""A folder of jars in Maven's layout, filled from a registry. Imports the resolver, which is slow to load."""

import errno
import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import httpx
from jgo.maven import Artifact, MavenContext, PythonResolver

from penstock.flow.camel.coordinate import Coordinate
from penstock.kernel.errors import PenstockError

_SECONDS = 30.0
_TRIES = 3
_CHUNK = 1 << 16
_LARGEST = 512 << 20

Progress = Callable[[Coordinate, int], None]
"""Is told of each file that is there, with its bytes."""


class FetchFailed(PenstockError):
    """A jar cannot be had; the detail names it and says what to do."""

    code = "fetch-failed"
    title = "A part of Camel cannot be fetched"


class Repository:
    """Works within `with`. folder: where files are kept. mirror: address of a registry, else the one that Maven knows.

    checksums: SHA-256 of files that must be exactly these; other files are checked by the registry's SHA-1.
    """

    def __init__(
        self,
        folder: Path,
        mirror: str = "",
        checksums: Mapping[Coordinate, str] | None = None,
        lent: Sequence[Path] = (),
    ) -> None:
        self._folder = folder
        self._lent = lent
        self._resolver = _CheckingResolver(checksums or {})
        self._context = MavenContext(
            self._resolver,
            folder,
            local_repos=list(lent),
            remote_repos={"mirror": mirror.rstrip("/")} if mirror else None,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._resolver.close()

    def fetch(self, coordinate: Coordinate) -> Path:
        """The jar's file, fetched when it is not there. Raises FetchFailed."""
        for folder in (self._folder, *self._lent):
            if (folder / coordinate.path).exists():
                return folder / coordinate.path
        with _explained():
            path: Path = self._dependency(coordinate).artifact.resolve()
            return path

    def resolve(self, roots: Sequence[Coordinate]) -> list[Coordinate]:
        """The roots and all that they need at run time, in the order of a class path. Raises FetchFailed."""
        with _explained():
            inputs, others = self._resolver.resolve([self._dependency(root) for root in roots])
        wanted = [each for each in (*inputs, *others) if each.scope in (None, "compile", "runtime")]
        jars = [each for each in wanted if each.type == "jar"]
        return [Coordinate(each.groupId, each.artifactId, each.version, each.classifier or "") for each in jars]

    def _dependency(self, coordinate: Coordinate) -> Any:
        text = f"{coordinate.group}:{coordinate.artifact}:{coordinate.version}"
        dependency = self._context.create_dependency(
            f"{text}:{coordinate.classifier}" if coordinate.classifier else text
        )
        dependency.raw = True  # else the versions that each root manages would hold for the others as well
        return dependency


class _CheckingResolver(PythonResolver):
    """Downloads so that a file is whole and checked, or not there."""

    def __init__(self, checksums: Mapping[Coordinate, str]) -> None:
        super().__init__()
        self._checksums = checksums
        self._client = httpx.Client(timeout=_SECONDS, follow_redirects=True)

    def close(self) -> None:
        self._client.close()

    def download(self, artifact: Artifact) -> Path:
        coordinate = Coordinate(artifact.groupId, artifact.artifactId, artifact.version, artifact.classifier or "")
        target = artifact.cached_path
        assert target is not None  # there is a folder
        for registry in artifact.context.remote_repos.values():
            address = f"{registry}/{artifact.component.path_prefix.as_posix()}/{artifact.filename}"
            expected = self._checksums.get(coordinate) if artifact.packaging == "jar" else None
            if self._download(coordinate, address, target, expected):
                return target
        raise FetchFailed(f"{coordinate} is not in the registry {_hosts(artifact.context)}")

    def _download(self, coordinate: Coordinate, address: str, target: Path, sha256: str | None) -> bool:
        """Whether the registry has it. Raises FetchFailed when it is another file than it should be."""
        published = sha256 or self._published(coordinate, address)
        for left in reversed(range(_TRIES)):
            try:
                return self._stream(coordinate, address, target, published)
            except httpx.TransportError:
                if not left:
                    raise
        return False

    def _published(self, coordinate: Coordinate, address: str) -> str | None:
        """The SHA-1 that the registry gives; None when the file is not there either."""
        answer = self._client.get(f"{address}.sha1")
        if answer.status_code == httpx.codes.NOT_FOUND:
            return None
        _check(answer, coordinate)
        return answer.text.split()[0].lower() if answer.text.strip() else None

    def _stream(self, coordinate: Coordinate, address: str, target: Path, expected: str | None) -> bool:
        with self._client.stream("GET", address) as answer:
            if answer.status_code == httpx.codes.NOT_FOUND:
                return False
            _check(answer, coordinate)
            if expected is None:
                raise FetchFailed(f"{coordinate} has no checksum in the registry {urlsplit(address).hostname}")
            with _whole(target) as (file, commit):
                digest = hashlib.sha256() if len(expected) == 64 else hashlib.sha1(usedforsecurity=False)
                for chunk in answer.iter_bytes(_CHUNK):
                    file.write(chunk)
                    digest.update(chunk)
                    if file.tell() > _LARGEST:
                        raise FetchFailed(f"{coordinate} is larger than {_LARGEST >> 20} MiB")
                if digest.hexdigest() != expected:
                    raise FetchFailed(
                        f"{coordinate} has the checksum {digest.hexdigest()}, not {expected}: "
                        "it was damaged on the way, or the registry holds another file"
                    )
                commit()
        return True


@contextmanager
def _whole(target: Path) -> Iterator[tuple[Any, Callable[[], None]]]:
    """A file beside the target that takes its place when `commit` was called, and is gone otherwise."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=".part-")
    committed = []
    try:
        with os.fdopen(handle, "wb") as file:
            yield file, lambda: committed.append(True)
        if committed:
            os.chmod(temporary, 0o644)
            os.replace(temporary, target)
    finally:
        Path(temporary).unlink(missing_ok=True)


def _check(answer: httpx.Response, coordinate: Coordinate) -> None:
    if answer.status_code != httpx.codes.OK:
        raise FetchFailed(f"{coordinate}: the registry {answer.url.host} answers {answer.status_code}")


def _hosts(context: MavenContext) -> str:
    return ", ".join(str(urlsplit(address).hostname) for address in context.remote_repos.values())


@contextmanager
def _explained() -> Iterator[None]:
    """What the network, the disk and the resolver raise, as FetchFailed."""
    try:
        yield
    except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
        raise FetchFailed(f"The address of the registry is not valid: {error}") from None
    except httpx.TransportError as error:
        host = error.request.url.host
        raise FetchFailed(
            f"The registry {host} cannot be reached ({type(error).__name__}); "
            "name another with PENSTOCK_AGENT_MAVEN_MIRROR or --mirror"
        ) from None
    except OSError as error:
        what = "the disk is full" if error.errno == errno.ENOSPC else f"{error.strerror}: {error.filename}"
        raise FetchFailed(f"A file cannot be written, {what}") from None
    except (RuntimeError, ValueError) as error:  # the resolver's own
        raise FetchFailed(f"The registry's description of a package cannot be used: {error}") from None
