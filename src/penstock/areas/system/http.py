"""Operations below /debug."""

from penstock.areas.system.model import SystemInfo
from penstock.areas.system.policy_report import PolicyReport
from penstock.areas.system.service import SystemInformation
from penstock.kernel.actor import Role
from penstock.resource.call import Call
from penstock.resource.operation import operation


class SystemHandlers:
    """What the server knows of itself."""

    def __init__(self, information: SystemInformation, report: PolicyReport) -> None:
        self._information = information
        self._report = report

    @operation("GET", "/debug/systeminfo", Role.READER)
    async def system_info(self, call: Call) -> SystemInfo:
        """Tell the server's build and machine, and this request as it arrived.

        Helps to see what a proxy on the way changes. Headers that may carry secrets are masked.
        """
        return self._information.of(call)

    @operation("POST", "/debug/systeminfo", Role.READER)
    async def system_info_for_post(self, call: Call) -> SystemInfo:
        """Tell the same as the GET, for a POST request. A body is passed over."""
        return self._information.of(call)

    @operation("GET", "/debug/systeminfo/policyreport", Role.READER)
    async def policy_report(self) -> str:
        """Report the policies in force, as Markdown in a JSON string.

        Who may call which operation, limits of sizes, rules of passwords, tokens and keys, how the code that users
        run is kept apart.
        """
        return await self._report.text()
