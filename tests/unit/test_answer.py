"""Names of files in answers."""

from urllib.parse import unquote

from hypothesis import given
from hypothesis import strategies as st

from penstock.resource.answer import File


def test_a_plain_name_is_given_as_it_is() -> None:
    assert File(file_name="report 1.csv").disposition == 'attachment; filename="report 1.csv"'


def test_a_file_without_a_name_is_no_attachment() -> None:
    assert File().disposition is None


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1))
def test_any_name_is_safe_in_a_header_and_comes_back_whole(name: str) -> None:
    header = File(file_name=name).disposition
    assert header is not None
    assert header.isascii()
    assert header.isprintable()
    assert header.count('"') == 2
    plain, _, encoded = header.partition("; filename*=UTF-8''")
    assert unquote(encoded) == name if encoded else f'filename="{name}"' in plain
