"""The file of results: one JSON record a line, appended when a run ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

# A run is told from all others by these; `split` is the digest of the data and its rows, and
# `limit` the name of a limit, "" where there is none (as in records that do not have it).
KEY = ("system", "set", "seed", "budget", "split", "limit")
Key = tuple[Any, ...]


def key_of(record: dict[str, Any]) -> Key:
    """Return the values of `KEY`."""
    return tuple(record.get(name, "") if name == "limit" else record[name] for name in KEY)


class Results:
    """The records of a file; a last line that was cut off is removed, and its run done again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.records: list[dict[str, Any]] = []
        if path.exists():
            whole, end, cut_off = path.read_text(encoding="utf-8").rpartition("\n")
            if cut_off:
                path.write_text(whole + end, encoding="utf-8")
            self.records = [json.loads(line) for line in whole.splitlines()]
        self._keys = {key_of(record) for record in self.records}

    def has(self, key: Key) -> bool:
        """Return True if this run is done, well or badly."""
        return key in self._keys

    def add(self, record: dict[str, Any]) -> None:
        """Append a record to the file."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        self.records.append(record)
        self._keys.add(key_of(record))
