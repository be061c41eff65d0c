import platform
from pathlib import Path

from penstock.agent.capabilities import Capabilities
from penstock.protocol.capability import CapabilityType


def offered(capabilities: Capabilities) -> dict[str | None, tuple[str | None, CapabilityType]]:
    return {each.identifier: (each.value, each.capability_type) for each in capabilities.current()}


def test_the_machine_is_described(tmp_path: Path) -> None:
    capabilities = offered(Capabilities({}, "Europe/Berlin", tmp_path / "custom"))

    assert capabilities["OS"] == (platform.system(), CapabilityType.SYSTEM)
    assert capabilities["TimeZone"] == ("Europe/Berlin", CapabilityType.SYSTEM)
    assert {"Architecture", "HostName", "Cpus", "PythonVersion", "OSVersion"} <= capabilities.keys()


def test_what_the_operator_sets_replaces_what_was_found_whatever_its_case(tmp_path: Path) -> None:
    capabilities = offered(Capabilities({"os": "linux", "Region": "eu"}, "UTC", tmp_path / "custom"))

    assert "OS" not in capabilities
    assert capabilities["os"] == ("linux", CapabilityType.CONFIGURED)
    assert capabilities["Region"] == ("eu", CapabilityType.CONFIGURED)


def test_custom_capabilities_come_and_go_with_their_file(tmp_path: Path) -> None:
    file = tmp_path / "custom"
    capabilities = Capabilities({}, "UTC", file)
    assert "Database" not in offered(capabilities)

    file.write_text('Database = "orders"\nSlots = 4')
    assert offered(capabilities)["Database"] == ("orders", CapabilityType.CUSTOM)
    assert offered(capabilities)["Slots"] == ("4", CapabilityType.CUSTOM)
    assert [each.identifier for each in capabilities.current() if each.is_custom] == ["Database", "Slots"]

    file.unlink()
    assert "Database" not in offered(capabilities)


def test_a_file_that_cannot_be_read_leaves_the_capabilities_as_they_were(tmp_path: Path) -> None:
    file = tmp_path / "custom"
    file.write_text('Database = "orders"')
    capabilities = Capabilities({}, "UTC", file)
    offered(capabilities)
    file.write_text("Database = ")

    assert offered(capabilities)["Database"] == ("orders", CapabilityType.CUSTOM)
