"""The looks that a run folder carries: they count wherever the folder goes.

The ledger of a machine knows the looks that were taken on it. A folder copied to another machine
brings its own, with all that the first ledger knew of the same rows. A look in both is one look,
known by its question. If the two number it differently, the larger number counts: it spends less.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from automl_admm.store.json_content import (
    DIGEST,
    demand_digest,
    flag,
    list_of,
    mapping_of,
    one_of,
    read_content,
    record,
    text,
    whole,
    with_digest,
)
from automl_admm.store.run_folder import write_json

SCHEMA = 1
_CONTENT = record(
    {
        "schema": one_of(SCHEMA),
        "looks": mapping_of(
            list_of(record({"question": text, "number": whole(1)}, {"last": flag}))
        ),
        DIGEST: text,
    }
)
Taken = Mapping[str, Sequence[Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class CarriedLooks:
    """The file of looks in a run folder.

    Where it is gone, `least` is the number of the look of the certificate beside it, and that
    `was_last` if no other may follow. The folder of a run that begins `is_new`, and carries
    nothing.
    """

    path: Path
    least: int = 0
    is_new: bool = False
    was_last: bool = False

    def read(self) -> dict[str, list[dict[str, Any]]]:
        """Return the looks by the hash of their rows; raise if the file was damaged or edited."""
        hint = "Restore it: without it nobody knows how often these rows were looked at."
        try:
            content = {} if self.is_new else read_content(self.path, _as_written, hint)
        except FileNotFoundError:
            return {}
        return dict(content.get("looks", {}))

    def keep(self, looks: Taken) -> None:
        """Write the looks beside those at other rows, with a digest."""
        before = self.read()
        now = {**before, **{rows: [*map(dict, taken)] for rows, taken in looks.items()}}
        if now != before:
            write_json(self.path, with_digest({"schema": SCHEMA, "looks": now}))


def _as_written(value: Any, where: str) -> None:
    """Demand the looks that a run folder carries, as their digest says."""
    _CONTENT(value, where)
    demand_digest(value)


def unite(here: Taken, there: Taken) -> dict[str, list[dict[str, Any]]]:
    """Return the looks of two ledgers, each question once under each hash of rows."""
    hashes = dict.fromkeys((*here, *there))
    return {rows: _unite(here.get(rows, ()), there.get(rows, ())) for rows in hashes}


def _unite(
    here: Iterable[Mapping[str, Any]], there: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {look["question"]: dict(look) for look in here}
    for look in there:
        known = found.get(look["question"])
        if known is None or look["number"] > known["number"]:
            found[look["question"]] = dict(look)
    return list(found.values())
