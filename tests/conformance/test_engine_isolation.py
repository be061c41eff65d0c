"""Code does not reach the platform: not its files, keys, environment, processes or bus."""

import os
import sys
from pathlib import Path

import pytest

from penstock.engine.engine import Engine
from penstock.engine.isolation import Bubblewrap
from tests.conformance.kernels import run


@pytest.fixture
def apart(kernels: Engine) -> Engine:
    """The engine, where kernels have a view of their own."""
    if not isinstance(kernels.isolation, Bubblewrap):
        pytest.skip("bubblewrap does not work here, so code runs as the engine's user")
    return kernels


async def test_the_environment_has_nothing_of_the_platforms(apart: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_SECRET_KEY", "not-for-code")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not-for-code")
    shown = await run(apart, "import os\ndict(os.environ)")
    assert "not-for-code" not in str(shown.value)
    # Those of ours that a kernel sees say which kernel it is, no more.
    ours = {name for name in shown.value if name.startswith("PENSTOCK")}
    assert ours == {"PENSTOCK_KERNEL", "PENSTOCK_KERNEL_OF"}


async def test_files_of_the_platform_and_its_users_are_not_there(apart: Engine, tmp_path: Path) -> None:
    secret = tmp_path / "secret-key"
    secret.write_text("not-for-code")
    wanted = [str(secret), "/etc/shadow", "/etc/passwd", str(Path.home()), "/root/.ssh", "/var", "/home", "/sys"]
    code = f"""
import os
def look(path):
    try:
        return os.listdir(path) if os.path.isdir(path) else open(path).read()
    except OSError as error:
        return None
[look(path) for path in {wanted!r}]
"""
    found = (await run(apart, code)).value
    home = [name for name in found[3] or [] if Path.home() not in Path(sys.base_prefix).parents]
    assert (found[0], found[1], found[2], home) == (None, None, None, [])
    assert found[4:] == [None] * 4


async def test_other_processes_are_neither_seen_nor_reached(apart: Engine) -> None:
    own = Path("/proc/self/cmdline").read_text()
    code = f"""
import os
def kill():
    try:
        os.kill({os.getpid()}, 0)
        return "reached"
    except ProcessLookupError:
        return "nobody there"
seen = [open(f"/proc/{{entry}}/cmdline").read() for entry in os.listdir("/proc") if entry.isdecimal()]
[kill(), {own!r} in seen]
"""
    assert (await run(apart, code)).value == ["nobody there", False]


async def test_code_is_not_told_where_the_machine_keeps_its_folders(apart: Engine) -> None:
    code = (
        "[part for part in open('/proc/1/cmdline').read().split('\\0') if 'penstock-kernels' in part or 'bind' in part]"
    )
    assert (await run(apart, code)).value == []


async def test_the_bus_and_the_network_are_out_of_reach(apart: Engine) -> None:
    code = """
import socket
def connect(address):
    try:
        socket.create_connection(address, 2)
        return "connected"
    except OSError as error:
        return "no"
[connect(("127.0.0.1", 4222)), connect(("1.1.1.1", 53)), sorted(name for _, name in socket.if_nameindex())]
"""
    assert (await run(apart, code)).value == ["no", "no", ["lo"]]


async def test_the_system_is_read_only(apart: Engine) -> None:
    code = f"""
def write(path):
    try:
        open(path, "w")
        return "written"
    except OSError:
        return "no"
[write(path) for path in ("/usr/x", "/x", {sys.prefix + "/x"!r}, "/run/cache/x", "/tmp/x", "x")]
"""
    assert (await run(apart, code)).value == ["no", "no", "no", "no", "written", "written"]


async def test_there_are_no_rights_and_no_way_to_get_them(apart: Engine) -> None:
    code = """
import os
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)
def become_root():
    try:
        os.setuid(0)
        return "root"
    except OSError:
        return "no"
[os.getuid() != 0, status["CapEff"], status["CapPrm"], status["NoNewPrivs"], become_root()]
"""
    assert (await run(apart, code)).value == [True, "0" * 16, "0" * 16, "1", "no"]


async def test_kernels_do_not_see_each_other(apart: Engine) -> None:
    await run(apart, "open('/tmp/mine', 'w').write('x'); open('mine', 'w').write('x')", notebook="neighbour")
    shown = await run(apart, "import os\n[os.path.exists('/tmp/mine'), os.path.exists('mine')]")
    assert shown.value == [False, False]
