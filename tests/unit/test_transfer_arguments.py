"""Options and filters of transfers, as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.rclone.arguments import OPTIONS, Arguments, read_arguments
from penstock.rclone.failure import in_plain_words
from penstock.rclone.filters import read_filters


def test_options_are_written_as_with_rclone() -> None:
    arguments, errors = read_arguments("--transfers 8 --checksum --max-age=2d --bwlimit 10M --retries 5 --verify")
    assert errors == []
    assert arguments == Arguments(
        config={"Transfers": 8, "CheckSum": True}, filter={"MaxAge": "2d"}, bandwidth="10M", retries=5, verify=True
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("--config /etc/passwd", "--config is not allowed"),
        ("--transfer 8", "did you mean --transfers?"),
        ("--transfers many", "--transfers takes a whole number"),
        ("--transfers", "--transfers takes a whole number"),
        ("--checksum=8", "--checksum takes no value"),
        ("--max-delete-share 2", "a share between 0 and 1"),
        ("--password-command 'rm -rf /'", "is not allowed"),
        ("--ignore-checksum", "is not allowed"),
        ("8", "'8' belongs to no option"),
        ("--order-by 'name", "cannot be read"),
    ],
)
def test_what_is_wrong_with_an_option_is_told(text: str, told: str) -> None:
    _, errors = read_arguments(text)
    assert told in "; ".join(error.message for error in errors)
    assert {error.field for error in errors} == {"Args"}


def test_everything_that_is_wrong_is_told_at_once() -> None:
    _, errors = read_arguments("--nope --transfers many")
    assert len(errors) == 2


@given(st.text())
def test_no_text_of_options_is_an_accident(text: str) -> None:
    arguments, errors = read_arguments(text)
    assert set(arguments.config) <= {option.key for option in OPTIONS.values()}
    assert all(error.message for error in errors)


def test_lines_that_take_files_leave_out_the_others() -> None:
    assert read_filters("*.csv\n\n# tables\n- old/**\n") == (["+ *.csv", "- old/**", "- *"], [])


def test_lines_that_only_leave_out_take_the_rest() -> None:
    assert read_filters("- *.tmp") == (["- *.tmp"], [])


def test_a_glob_that_does_not_close_is_named_by_its_line() -> None:
    _, errors = read_filters("*.csv\n{a,b")
    assert [(error.field, "line 2" in error.message) for error in errors] == [("Filters", True)]


@given(st.text())
def test_no_text_of_filters_is_an_accident(text: str) -> None:
    rules, _ = read_filters(text)
    assert all(rule.startswith(("+ ", "- ")) for rule in rules)


def test_a_known_cause_leads_and_the_message_stays() -> None:
    message = "write /x: no space left on device"
    assert in_plain_words(message) == f"the disk is full ({message})"
    assert in_plain_words("something new") == "something new"
