"""Key-value buckets on a real server."""

import pytest

from penstock.bus.bus import Bus
from penstock.bus.keyvalue import Bucket, BucketSpec
from penstock.kernel.errors import Invalid, Stale

pytest_plugins = ("tests.nats",)


@pytest.fixture
async def bucket(bus: Bus, unique: str) -> Bucket:
    bucket = Bucket(bus, BucketSpec(bucket=unique, history=3))
    await bucket.ensure()
    return bucket


async def test_a_value_is_read_back_until_it_is_deleted(bucket: Bucket) -> None:
    assert await bucket.get("a.b") is None
    revision = await bucket.put("a.b", b"1")
    entry = await bucket.get("a.b")
    assert entry is not None
    assert (entry.key, entry.value, entry.revision) == ("a.b", b"1", revision)
    await bucket.delete("a.b")
    assert await bucket.get("a.b") is None


async def test_an_update_with_an_old_revision_is_stale_and_changes_nothing(bucket: Bucket) -> None:
    first = await bucket.put("k", b"1")
    await bucket.update("k", b"2", first)
    with pytest.raises(Stale):
        await bucket.update("k", b"3", first)
    with pytest.raises(Stale):
        await bucket.delete("k", first)
    entry = await bucket.get("k")
    assert entry is not None
    assert entry.value == b"2"


async def test_create_refuses_a_key_with_a_value_and_takes_one_that_was_deleted(bucket: Bucket) -> None:
    await bucket.create("k", b"1")
    with pytest.raises(Stale):
        await bucket.create("k", b"2")
    await bucket.delete("k")
    await bucket.create("k", b"3")
    entry = await bucket.get("k")
    assert entry is not None
    assert entry.value == b"3"


async def test_history_keeps_the_newest_values(bucket: Bucket) -> None:
    for value in (b"1", b"2", b"3"):
        await bucket.put("k", value)
        await bucket.put("other", value)
    await bucket.delete("k")
    assert [(e.value, e.deleted) for e in await bucket.history("k")] == [
        (b"", True),
        (b"3", False),
        (b"2", False),
    ]


async def test_keys_and_entries_leave_out_what_is_deleted(bucket: Bucket) -> None:
    assert await bucket.keys() == []
    for key in ("b.1", "a.2", "a.1", "a.3"):
        await bucket.put(key, key.encode())
    await bucket.delete("a.3")
    assert await bucket.keys() == ["a.1", "a.2", "b.1"]
    assert await bucket.keys("a.*") == ["a.1", "a.2"]
    assert {e.key: e.value for e in await bucket.entries("a.>")} == {"a.1": b"a.1", "a.2": b"a.2"}


async def test_watching_gives_what_is_there_and_each_change(bucket: Bucket) -> None:
    await bucket.put("a", b"1")
    async with bucket.watch() as entries:
        assert (await anext(entries)).value == b"1"
        await bucket.put("a", b"2")
        await bucket.delete("a")
        assert (await anext(entries)).value == b"2"
        assert (await anext(entries)).deleted


@pytest.mark.parametrize("key", ["", "a..b", ".a", "a b", "a*", ">", "ä", "a\n"])
async def test_a_key_that_would_change_the_subject_is_invalid(bucket: Bucket, key: str) -> None:
    with pytest.raises(Invalid):
        await bucket.put(key, b"")


async def test_what_is_erased_leaves_nothing_behind(bucket: Bucket) -> None:
    await bucket.put("k", b"1")
    await bucket.put("other", b"1")
    revision = await bucket.put("k", b"2")
    with pytest.raises(Stale):
        await bucket.erase("k", revision - 1)
    await bucket.erase("k", revision)
    assert (await bucket.get("k"), await bucket.history("k"), await bucket.keys()) == (None, [], ["other"])
    assert (await bucket.info()).state.num_subjects == 1
    await bucket.put("k", b"3")
    assert [entry.value for entry in await bucket.history("k")] == [b"3"]


async def test_the_newest_values_of_some_keys_come_in_pages(bucket: Bucket) -> None:
    for key in ("a.1", "b.1", "a.2", "a.1"):
        await bucket.put(key, key.encode())
    await bucket.delete("a.2")
    found = [(entry.key, entry.deleted) for entry in await bucket.newest("a.*")]
    assert found == [("a.2", True), ("a.1", False), ("a.2", False), ("a.1", False)]
    page = await bucket.newest("a.*", skip=1, count=2)
    assert [(entry.key, entry.deleted) for entry in page] == found[1:3]
    since = page[0].time
    assert [entry.revision for entry in await bucket.newest("a.*", since=since)] == [5, 4]
