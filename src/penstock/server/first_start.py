"""What the first start makes: the first Admin, and a registration token for an agent on the same machine."""

import os
from pathlib import Path

from penstock.areas.agents.registration import Registrations
from penstock.areas.identity.service import Users
from penstock.kernel.actor import SYSTEM
from penstock.server.platform import Platform

_LOCAL_POOL = "local"


async def prepare_first_start(platform: Platform) -> str | None:
    """Returns the generated password of the first Admin, None when there are users already or one was set."""
    if platform.settings.local_agent_token_file:
        await _hand_out_token(platform, Path(platform.settings.local_agent_token_file))
    return await platform.container.get(Users).ensure_admin(platform.settings.admin_password or None)


async def _hand_out_token(platform: Platform, path: Path) -> None:
    # Whoever starts the server asks for a token only while the agent has no identity, so one left over may be spent.
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    pending = await platform.container.get(Registrations).create(_LOCAL_POOL, SYSTEM, platform.settings.address)
    aside = path.with_name(f".{path.name}.new")
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(pending.token or "")
    aside.replace(path)
