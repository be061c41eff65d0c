"""What the first start makes: the first Admin, and a registration token for the agent beside the server."""

from penstock.areas.identity.service import Users
from penstock.server.platform import Platform


async def prepare_first_start(platform: Platform) -> str | None:
    """Returns the generated password of the first Admin, None when there are users already or one was set."""
    return await platform.container.get(Users).ensure_admin(platform.settings.admin_password or None)
