"""What the first start makes: the first Admin, and a registration token for an agent on the same machine."""

from pathlib import Path

from penstock.areas.agents.registration import Registrations
from penstock.areas.identity.service import SHORTEST_PASSWORD, Users
from penstock.kernel.actor import SYSTEM
from penstock.kernel.private_file import write_private
from penstock.resource.token import new_password
from penstock.server.platform import Platform

_LOCAL_POOL = "local"


async def prepare_first_start(platform: Platform) -> str | None:
    """Returns the generated password of the first Admin when nobody else keeps it, so that it must be told now."""
    settings = platform.settings
    if settings.local_agent_token_file:
        await _hand_out_token(platform, Path(settings.local_agent_token_file))
    users = platform.container.get(Users)
    initial = None
    if settings.first_password_file and not settings.admin_password and not await users.has_admin():
        initial = _kept_password(Path(settings.first_password_file))
    return await users.ensure_admin(settings.admin_password or None, initial)


async def _hand_out_token(platform: Platform, path: Path) -> None:
    # Whoever starts the server asks for a token only while the agent has no identity, so one left over may be spent.
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    pending = await platform.container.get(Registrations).create(_LOCAL_POOL, SYSTEM, platform.settings.address)
    write_private(path, pending.token or "")


def _kept_password(path: Path) -> str:
    # On disk before the Admin is: whatever breaks off the start, the file has the password that holds.
    password = path.read_text().strip() if path.exists() else ""
    if len(password) < SHORTEST_PASSWORD:
        password = new_password()
        write_private(path, password)
    return password
