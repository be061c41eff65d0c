"""Who may use the platform: logins, users, roles, API keys."""

from penstock.areas.identity.access_tokens import AccessTokens
from penstock.areas.identity.accounts import Accounts
from penstock.areas.identity.api_keys import ApiKeys
from penstock.areas.identity.credentials import AccessTokenCheck, ApiKeyCheck
from penstock.areas.identity.http import IdentityHandlers
from penstock.areas.identity.model import SESSIONS, USERS
from penstock.areas.identity.passwords import Passwords
from penstock.areas.identity.rules import IdentityRules
from penstock.areas.identity.service import Users
from penstock.areas.identity.sessions import Sessions
from penstock.areas.identity.throttle import LoginThrottle
from penstock.areas.identity.worker import IdentityNotices
from penstock.resource.area import Area
from penstock.resource.ports.rules import AccessRules

AREA = Area(
    name="identity",
    collections=(USERS, SESSIONS),
    services=(AccessTokens, Accounts, ApiKeys, IdentityRules, LoginThrottle, Passwords, Sessions, Users),
    handlers=(IdentityHandlers,),
    workers=(IdentityNotices,),
    credentials=(AccessTokenCheck, ApiKeyCheck),
    provides=((AccessRules, IdentityRules),),
)
