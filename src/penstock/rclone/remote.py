"""Where files come from or go to, as rclone takes it in a call: a dictionary, never a connection string."""

from collections.abc import Mapping
from typing import Any

import msgspec

from penstock.rclone.backend import ACCEPT_ANY_HOST_KEY, Backend, text_of
from penstock.rclone.failure import TransferFailed
from penstock.rclone.worker import RcloneWorker

HOST_KEY_HINT = (
    "the server's host key is not known: set host_keys to what `ssh-keyscan HOST` prints behind the host name,"
    f" or {ACCEPT_ANY_HOST_KEY.name} to true"
)


class Remote(msgspec.Struct, frozen=True):
    """backend: the kind of storage. variables: its options, secrets in clear. root: the folder in it."""

    backend: Backend
    variables: Mapping[str, Any]
    root: str

    @property
    def secrets(self) -> list[str]:
        """What must not be seen in anything that is logged or told."""
        hidden = {option.name for option in self.backend.options if option.is_secret}
        return [text_of(value) for name, value in self.variables.items() if name in hidden and text_of(value)]

    async def parameters(self, worker: RcloneWorker) -> dict[str, str]:
        """The dictionary for a call. Raises TransferFailed for an SFTP server whose host key nobody has named."""
        options = {name: text_of(value) for name, value in self.variables.items()}
        if self.backend.name == "sftp":
            _check_host_key(options)
        for option in self.backend.options:
            if option.is_password and options.get(option.name):
                answer = await worker.call("core/obscure", {"clear": options[option.name]})
                options[option.name] = answer["obscured"]
        return {**options, "type": self.backend.name, "_root": self.root}


def _check_host_key(options: dict[str, str]) -> None:
    accepts_any = options.pop(ACCEPT_ANY_HOST_KEY.name, "false") == "true"
    if not options.get("host_keys") and not accepts_any:
        raise TransferFailed(HOST_KEY_HINT)
    if accepts_any:
        options["known_hosts_file"] = "none"
