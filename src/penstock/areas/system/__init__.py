"""The server about itself: system information and the policies in force."""

from penstock.areas.system.http import SystemHandlers
from penstock.areas.system.policy_report import PolicyReport
from penstock.areas.system.service import SystemInformation
from penstock.resource.area import Area

AREA = Area(name="system", services=(PolicyReport, SystemInformation), handlers=(SystemHandlers,))
