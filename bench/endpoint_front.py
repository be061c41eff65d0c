"""An endpoint on an agent's HTTP server, without the agent around it.

`python -m bench.endpoint_front PORT WHEELS FOLDER`
"""

import os
import sys
from pathlib import Path

import structlog
import uvloop

from penstock.agent.endpoints.front import EndpointFront
from penstock.agent.endpoints.served import ServedEndpoint
from penstock.agent.settings import read_agent_settings
from penstock.apihost.entrance import Entrance
from penstock.apihost.host import ApiHost, HostPolicy, Launch
from penstock.apihost.life import EndpointLife
from penstock.apihost.packages import ApiPackages
from penstock.apihost.standing import new_standing
from penstock.connectors.resolution import Secrets
from penstock.flow.http.http_server import HttpServer
from penstock.kernel.clock import SystemClock
from penstock.packages.environment import Package
from penstock.packages.index import PackageIndex
from penstock.server.apihost.hosted import Memory

PACKAGE = Package("penstock-bench-api", "1.0")


async def serve(port: int, wheels: str, folder: Path) -> None:
    """Until killed."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    packages = ApiPackages(folder, PackageIndex("none", wheels, os.environ), os.environ)
    host = ApiHost(packages, os.environ, HostPolicy(), folder)
    clock = SystemClock()
    async with host, HttpServer("127.0.0.1", port, 1 << 20, EndpointFront.of(read_agent_settings({}))) as server:
        life = EndpointLife("bench", "/bench", Memory(new_standing(clock.now())), host, clock)
        served = ServedEndpoint(server, Entrance("127.0.0.1", "", ""), life)

        async def prepare() -> Launch:
            await served.open()
            return Launch(PACKAGE, None, "bench", "1.0", {}, Secrets())

        await life.serve(prepare)


if __name__ == "__main__":
    uvloop.run(serve(int(sys.argv[1]), sys.argv[2], Path(sys.argv[3])))
