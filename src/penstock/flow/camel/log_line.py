"""What a Camel process writes: one JSON object a line, and whatever else Java prints."""

from datetime import datetime

import msgspec

from penstock.flow.listener import Level

_STARTED_LOGGER = "org.apache.camel.impl.engine.AbstractCamelContext"

# As log4j's JsonTemplateLayout wants it: names are LogLine's fields.
TEMPLATE = (
    '{"at":{"$resolver":"timestamp","pattern":{"format":"yyyy-MM-dd\'T\'HH:mm:ss.SSSSSSXXX","timeZone":"UTC"}},'
    '"level":{"$resolver":"level","field":"name"},'
    '"logger":{"$resolver":"logger","field":"name"},'
    '"message":{"$resolver":"message","stringified":true},'
    '"exchange":{"$resolver":"mdc","key":"camel.exchangeId"},'
    '"error_type":{"$resolver":"exception","field":"className"},'
    '"error":{"$resolver":"exception","field":"message"},'
    '"stack":{"$resolver":"exception","field":"stackTrace","stackTrace":{"stringified":true}}}'
)


class LogLine(msgspec.Struct, frozen=True):
    """at: None for a line that is not one of the log's."""

    message: str = ""
    at: datetime | None = None
    level: str = "INFO"
    logger: str = "java"
    exchange: str | None = None
    error_type: str | None = None
    error: str | None = None
    stack: str | None = None

    @classmethod
    def parse(cls, line: bytes) -> "LogLine":
        """Reads any line; one that is not JSON is a message of Java's own."""
        if line.startswith(b"{"):
            try:
                return _decoder.decode(line)
            except msgspec.DecodeError:
                pass  # something that the flow printed
        return cls(message=line.decode("utf-8", "replace"))

    @property
    def severity(self) -> Level:
        return Level.ERROR if self.level == "FATAL" else Level(self.level) if self.level in _LEVELS else Level.INFO

    @property
    def says_started(self) -> bool:
        """Whether it is what Camel says once all routes run."""
        return self.logger == _STARTED_LOGGER and " started in " in self.message


_decoder = msgspec.json.Decoder(LogLine)
_LEVELS = {level.value for level in Level}
