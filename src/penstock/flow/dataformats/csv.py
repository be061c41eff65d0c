"""`csv`: lines of values."""

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Annotated

from msgspec import Meta

from penstock.flow.dataformat import DataFormat, DataFormatFailed
from penstock.flow.values import text_of

_RECORD = "\r\n"


class CsvFailed(DataFormatFailed):
    """The body is not CSV."""

    code = "csv-failed"
    title = "The body is not CSV"
    java = ("org.apache.commons.csv.CSVException", "java.io.IOException")


class Columns(tuple[str, ...]):
    """Names of columns, with commas between, or as a list."""

    __slots__ = ()

    @classmethod
    def parse(cls, text: str) -> "Columns":
        return cls(name.strip() for name in text.split(","))

    @classmethod
    def parse_all(cls, texts: list[str]) -> "Columns":
        return cls(texts)


class Csv(DataFormat, frozen=True, kw_only=True):
    """A list of lists, or of maps with `useMaps`; values are texts."""

    element = "csv"

    delimiter: Annotated[str, Meta(description="The character between values.", min_length=1, max_length=1)] = ","
    quote: Annotated[str, Meta(description="The character around values.", min_length=1, max_length=1)] = '"'
    quote_disabled: Annotated[bool, Meta(description="Whether quotes are plain characters.")] = False
    header: Annotated[Columns, Meta(description="Names of the columns, with commas between.")] = Columns()
    skip_header_record: Annotated[bool, Meta(description="Whether the first line is, or would be, left out.")] = False
    use_maps: Annotated[bool, Meta(description="Reads maps by column; without `header`, by the first line.")] = False
    use_ordered_maps: Annotated[bool, Meta(description="Taken as it is: maps are ordered.")] = False
    ignore_empty_lines: Annotated[bool, Meta(description="Leaves out empty lines.")] = True
    trim: Annotated[bool, Meta(description="Leaves out blanks around values.")] = False
    null_string: Annotated[str | None, Meta(description="A value that stands for null.")] = None
    record_separator: Annotated[str, Meta(description="What ends a line that is written.")] = _RECORD

    def read(self, body: object) -> object:
        rows = self._rows(text_of(body))
        if not self.use_maps:
            found = list(rows)
            return found[1:] if self.skip_header_record and found else found
        columns = list(self.header) or [text_of(name) for name in next(rows, [])]
        if self.header and self.skip_header_record:
            next(rows, None)
        return [dict(zip(columns, row, strict=False)) for row in rows]

    def write(self, body: object) -> object:
        output = io.StringIO()
        writer = csv.writer(
            output,
            delimiter=self.delimiter,
            quotechar=self.quote,
            quoting=csv.QUOTE_NONE if self.quote_disabled else csv.QUOTE_MINIMAL,
            lineterminator=self.record_separator.replace("\\n", "\n").replace("\\r", "\r"),
        )
        try:
            if self.header and not self.skip_header_record:
                writer.writerow(self.header)
            writer.writerows(self._written(row) for row in _records(body))
        except csv.Error as error:
            raise CsvFailed(f"the body cannot be written as CSV: {error}") from None
        return output.getvalue().encode()

    def _rows(self, text: str) -> Iterator[list[str | None]]:
        reader = csv.reader(
            io.StringIO(text, newline=""),
            delimiter=self.delimiter,
            quotechar=None if self.quote_disabled else self.quote,
            quoting=csv.QUOTE_NONE if self.quote_disabled else csv.QUOTE_MINIMAL,
            strict=True,
        )
        try:
            for row in reader:
                if row or not self.ignore_empty_lines:
                    yield [self._value(value) for value in row or [""]]
        except csv.Error as error:
            raise CsvFailed(f"line {reader.line_num} is not CSV: {error}") from None

    def _value(self, value: str) -> str | None:
        trimmed = value.strip() if self.trim else value
        return None if self.null_string is not None and trimmed == self.null_string else trimmed

    def _written(self, row: object) -> list[str]:
        if isinstance(row, Mapping):
            names = self.header or tuple(row)
            values = [row.get(name) for name in names]
        else:
            values = list(row) if isinstance(row, list | tuple) else [row]
        return [(self.null_string or "") if value is None else text_of(value) for value in values]


def _records(body: object) -> list[object]:
    """The rows: a list of them, or one map. A list of plain values is one row."""
    if isinstance(body, list | tuple):
        rows = list(body)
        return rows if any(isinstance(row, list | tuple | Mapping) for row in rows) else [rows] if rows else []
    return [body]
