"""What rclone says when something fails, in plain words."""

import re

from penstock.kernel.errors import PenstockError


class TransferFailed(PenstockError):
    """A transfer could not be made, or not all of it; the text says why in plain words."""

    code = "transfer-failed"
    title = "The transfer failed"


_CAUSES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), cause)
    for pattern, cause in (
        (r"no space left on device|disk quota exceeded|remaining disk space", "the disk is full"),
        (r"corrupted on transfer|hash differ|hashes differ|sizes differ", "what arrived differs from what was sent"),
        (r"source file is being updated", "the file changed while it was read"),
        (
            r"unable to authenticate|no supported methods remain|530 |login incorrect|authentication failed"
            r"|401 unauthorized|InvalidAccessKeyId|SignatureDoesNotMatch",
            "the storage does not accept the credentials",
        ),
        (r"host key|knownhosts", "the server does not show the host key that the core system names"),
        (r"access ?denied|403 forbidden|permission denied|not permitted", "the storage does not allow it"),
        (r"connection refused", "nothing answers at the address of the storage"),
        (r"no such host|server misbehaving", "the host name of the storage is not known"),
        (
            r"connection lost|connection reset|broken pipe|unexpected EOF|EOF$|use of closed network|not connected",
            "the connection to the storage was lost",
        ),
        (r"i/o timeout|timed? ?out|deadline exceeded", "the storage does not answer in time"),
        (r"x509|certificate", "the certificate of the storage cannot be verified"),
        (r"NoSuchBucket|bucket.*not.*(found|exist)", "the bucket does not exist"),
        (r"directory not found", "the folder does not exist"),
        (r"object not found|no such file", "the file is gone"),
        (r"is a directory|not a directory", "a folder stands where a file belongs, or a file where a folder belongs"),
    )
)


def in_plain_words(message: str) -> str:
    """`message` led by its cause, where that is known: `the disk is full (write /x: no space left on device)`."""
    for pattern, cause in _CAUSES:
        if pattern.search(message):
            return f"{cause} ({message})"
    return message
