"""Folders that go with the process that made them, whatever its end."""

import os
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

from penstock.kernel.run_folder import RunFolder

MAKER = """
import sys, time
from pathlib import Path
from penstock.kernel.run_folder import RunFolder
folder = RunFolder(Path(sys.argv[1]), ".run-")
(folder.path / "left").write_text("x")
print(folder.path, flush=True)
sys.stdin.read()
"""


def test_it_is_the_users_own_and_gone_when_closed(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "deep" / "er", ".run-") as folder:
        assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
        (folder.path / "file").write_text("x")
    assert list((tmp_path / "deep" / "er").iterdir()) == []


def test_a_killed_makers_folder_is_removed_by_the_next_one_and_a_living_makers_is_not(tmp_path: Path) -> None:
    command = [sys.executable, "-c", MAKER, str(tmp_path)]
    makers = [subprocess.Popen(command, stdin=-1, stdout=-1, text=True) for _ in range(2)]
    try:
        paths = []
        for maker in makers:
            assert maker.stdout is not None
            paths.append(Path(maker.stdout.readline().strip()))
        os.kill(makers[0].pid, signal.SIGKILL)
        makers[0].wait()
        assert paths[0].exists()
        (tmp_path / ".run-file").write_text("not a folder")
        (tmp_path / "other").mkdir()
        with RunFolder(tmp_path, ".run-") as folder:
            left = {each.name for each in tmp_path.iterdir()}
            assert left == {folder.path.name, paths[1].name, ".run-file", "other"}
    finally:
        for maker in makers:
            maker.kill()
            maker.communicate()


def test_a_socket_is_reached_however_deep_the_folder_lies(tmp_path: Path) -> None:
    with RunFolder(tmp_path / ("x" * 100) / ("y" * 100), ".run-") as folder, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder.reach("s")))
        listener.listen()
        with socket.socket(socket.AF_UNIX) as caller:
            caller.connect(str(folder.reach("s")))
        assert (folder.path / "s").is_socket()
