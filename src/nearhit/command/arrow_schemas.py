"""Which columns of an Arrow or Parquet file hold categories, where Polars reads their values as bare numbers.

A category column of pandas is a dictionary column of Arrow. Polars keeps that of strings only: of other values (numbers,
dates) it returns the values. The files know better, and what they say is read here, without pyarrow, so that it does not
depend on what is installed.

    Arrow     the first message is the schema: columns with a dictionary
    Parquet   the same schema under "ARROW:schema" in the metadata, and pandas' own description under "pandas"

The layout is that of Schema.fbs and Message.fbs in the format of Arrow, in the encoding of FlatBuffers: a table begins
with the distance back to a list of the places of its fields; strings, vectors and other tables are distances ahead.
"""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

ARROW_FILE = b"ARROW1\0\0"
CONTINUES = 0xFFFFFFFF  # before the length of a message, since version 0.15
MESSAGE_HEADER, SCHEMA_FIELDS, FIELD_NAME, FIELD_DICTIONARY = 2, 1, 0, 4


def categories_of_arrow(data: bytes) -> set[str]:
    """The dictionary columns of an Arrow file or stream that Polars could read."""
    return _dictionary_columns(data, len(ARROW_FILE) if data.startswith(ARROW_FILE) else 0)


def categories_of_parquet(data: bytes) -> set[str]:
    """The columns of a Parquet file that were categories when it was written."""
    metadata = pl.read_parquet_metadata(io.BytesIO(data))
    described = json.loads(metadata.get("pandas", "{}")).get("columns", [])
    found = {column.get("field_name") or column["name"] for column in described if column["pandas_type"] == "categorical"}
    if "ARROW:schema" in metadata:
        found |= _dictionary_columns(base64.b64decode(metadata["ARROW:schema"]))
    return found


def _dictionary_columns(data: bytes, start: int = 0) -> set[str]:
    """The names of the fields with a dictionary, from a message that holds a schema."""
    start += 8 if _Place(data, start).number() == CONTINUES else 4
    schema = _Place(data, start).ahead().field(MESSAGE_HEADER).ahead()
    fields = schema.field(SCHEMA_FIELDS).ahead().elements()
    return {column.field(FIELD_NAME).ahead().text() for column in fields if column.has(FIELD_DICTIONARY)}


@dataclass(frozen=True)
class _Place:
    """A place in a buffer, as the table, vector, string or distance that is there."""

    data: bytes
    at: int

    def number(self, size: int = 4) -> int:
        return int.from_bytes(self.data[self.at : self.at + size], "little")

    def ahead(self) -> _Place:
        return _Place(self.data, self.at + self.number())

    def field(self, which: int) -> _Place:
        return _Place(self.data, self.at + self._distance(which))

    def has(self, which: int) -> bool:
        return self._distance(which) > 0

    def _distance(self, which: int) -> int:
        """From the start of a table to one of its fields; 0 if it is not there."""
        back = int.from_bytes(self.data[self.at : self.at + 4], "little", signed=True)
        places = _Place(self.data, self.at - back)
        entry = 4 + 2 * which
        return _Place(self.data, places.at + entry).number(2) if entry < places.number(2) else 0

    def elements(self) -> Iterator[_Place]:
        return (_Place(self.data, self.at + 4 + 4 * i).ahead() for i in range(self.number()))

    def text(self) -> str:
        return self.data[self.at + 4 : self.at + 4 + self.number()].decode()
