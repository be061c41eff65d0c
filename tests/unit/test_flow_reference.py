"""The reference page is what the code declares."""

from pathlib import Path

from penstock.flow.family import FOLDERS
from penstock.flow.parsing.option import options_of
from penstock.flow.parsing.reference import reference
from penstock.flow.registry import registry

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "flow-elements.md"


def test_the_page_is_up_to_date() -> None:
    """When it is not: `python -m penstock.flow.parsing.reference > docs/reference/flow-elements.md`."""
    assert PAGE.read_text() == reference(registry())


def test_every_option_says_what_it_means() -> None:
    for family in FOLDERS:
        for name in registry().names(family):
            element = registry().find(family, name)
            assert element is not None
            assert element.__doc__
            assert [option.name for option in options_of(element) if not option.description] == []
