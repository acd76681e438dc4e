"""JSON: a record a line (JSON lines), or one list of records."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from automl_admm.core.errors import DataError
from automl_admm.data.exact_arrays import exact_records

Record = dict[str, Any]
HINT = "Write a record a line: DataFrame.to_json(orient='records', lines=True)."
TWICE = "Give each value a name of its own."
BLANK = b" \t\r\n"
MARK = b"\xef\xbb\xbf"


class _DoubleKeyError(ValueError):
    """Raised on a record with one name for two values."""


@dataclass(frozen=True, slots=True)
class JsonLines:
    """A file with a record a line; rows begin at its first byte."""

    path: Path
    end: int = 0
    lines: int = 0

    def rows(self, lines: Iterable[bytes], first: int) -> Iterator[tuple[int, Record]]:
        """Return the records in lines, each with the number of its line."""
        for number, line in enumerate(lines, first):
            written = line.removeprefix(MARK).strip(BLANK)
            if written:
                yield number, self._record(number, written)

    def frame(self, rows: Sequence[Record], keep_text: Iterable[str] = ()) -> Any:
        """Return a frame of records; a name that a record lacks is a missing value."""
        del keep_text  # its values have their types
        if len(rows) == 1 and rows[0] and all(isinstance(v, dict | list) for v in rows[0].values()):
            raise DataError(f"{self.path} holds columns, and no records.", hint=HINT)
        frame = exact_records(rows)
        # What is missing everywhere is as in a CSV file: of no kind of text.
        empty = [name for name in frame if frame[name].isna().all()]
        return frame.astype(dict.fromkeys(empty, float))

    def _record(self, number: int, written: bytes) -> Record:
        try:
            found = json.loads(written, object_pairs_hook=_without_doubles)
        except _DoubleKeyError as problem:
            raise DataError(f"{self.path}, line {number}: {problem}.", hint=TWICE) from None
        except (ValueError, RecursionError) as problem:
            raise DataError(
                f"{self.path}, line {number}: this is no JSON record ({problem}).", hint=HINT
            ) from problem
        return _checked(found, f"{self.path}, line {number}")


def read_array(path: Path) -> tuple[JsonLines, list[Record]]:
    """Read a file that holds one list of records."""
    try:
        content = path.read_text(encoding="utf-8-sig")
        found = json.loads(content, object_pairs_hook=_without_doubles)
    except _DoubleKeyError as problem:
        raise DataError(f"{path}: {problem}.", hint=TWICE) from None
    except (ValueError, RecursionError) as problem:
        raise DataError(f"{path} is no JSON that can be read: {problem}.", hint=HINT) from problem
    return JsonLines(path), [
        _checked(record, f"{path}, record {number}") for number, record in enumerate(found, 1)
    ]


def _without_doubles(pairs: list[tuple[str, Any]]) -> Record:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _DoubleKeyError(f"'{twice}' stands twice in a record")
    return found


def _checked(found: Any, place: str) -> Record:
    if not isinstance(found, dict):
        raise DataError(f"{place}: a list or a single value, and no record with names.", hint=HINT)
    return found
