"""Folders that hold keys."""

import os

import pytest

from penstock.kernel.ownership import exposure

ME, ROOT, SOMEBODY = 1000, 0, 1001


def status(mode: int, owner: int) -> os.stat_result:
    return os.stat_result((0o40000 | mode, 0, 0, 1, owner, 0, 0, 0, 0, 0))


@pytest.mark.parametrize(("mode", "owner"), [(0o700, ME), (0o755, ME), (0o770, ROOT)])
def test_ones_own_folder_is_safe_and_that_of_root(mode: int, owner: int) -> None:
    assert exposure(status(mode, owner), ME) is None


@pytest.mark.parametrize(("mode", "owner"), [(0o702, ME), (0o1777, ROOT), (0o700, SOMEBODY)])
def test_a_folder_that_others_could_change_is_not(mode: int, owner: int) -> None:
    assert exposure(status(mode, owner), ME) is not None
