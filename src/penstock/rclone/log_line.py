"""The lines that rclone logs in JSON."""

import msgspec


class LogLine(msgspec.Struct, frozen=True, rename="camel"):
    """level: `info`, `notice`, `error`, ... object: the file that the line is about, if it is about one."""

    time: str = ""
    level: str = ""
    msg: str = ""
    source: str = ""
    object: str = ""
    object_type: str = ""
    size: int | None = None

    @property
    def is_error(self) -> bool:
        return self.level in ("error", "critical", "alert", "emergency")

    @property
    def was_transferred(self) -> bool:
        """Whether the line says that the file has reached the destination."""
        return bool(self.object) and self.msg.startswith(("Copied (", "Multi-thread Copied (", "Moved", "Renamed from"))

    @property
    def was_deleted(self) -> bool:
        return bool(self.object) and self.msg.startswith("Deleted")


def read_line(line: bytes) -> LogLine:
    """A line as rclone wrote it; what is not JSON, such as a crash, counts as an error."""
    try:
        return msgspec.json.decode(line, type=LogLine)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return LogLine(level="error", msg=line.decode(errors="replace").strip())
