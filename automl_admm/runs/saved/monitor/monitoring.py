"""A model in use: its limits on labelled rows as they arrive, and shifts of columns.

Each look is a file in the folder of the run, `monitoring/look-0001.json`. So the count of looks,
by which the risk is shared, goes where the run goes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from automl_admm.certify.bounds.anytime import risk_at
from automl_admm.certify.watching import Watch
from automl_admm.core.errors import ConfigurationError, DataError, StoreError
from automl_admm.data.drift import alarms
from automl_admm.data.row_hashes import RowHashes
from automl_admm.execution.evidence_files import encode_evidence
from automl_admm.pipelines.predictions.measured import Table
from automl_admm.runs.finish.model_file import refuse_replaced
from automl_admm.runs.saved.certified_run import CertifiedRun
from automl_admm.runs.saved.given_table import GivenTable
from automl_admm.runs.saved.labelled_rows import open_run
from automl_admm.runs.saved.monitor.earlier_looks import EarlierLook, read_looks
from automl_admm.runs.saved.monitor.kept_reference import (
    Reference,
    keep,
    keep_predictions,
    read_reference,
)
from automl_admm.runs.saved.monitor.look_evidence import (
    LookEvidence,
    PooledEvidence,
    evidence_of_look,
    is_of_rows,
    pool_looks,
)
from automl_admm.runs.saved.monitor.monitored import Monitored
from automl_admm.runs.saved.monitor.rows_seen import check_new, refuse_again
from automl_admm.runs.saved.monitor.watched_columns import (
    PREDICTION,
    columns_of_model,
    shifts_from,
)
from automl_admm.runs.saved.monitor.weights_of_looks import Heaviest
from automl_admm.runs.saved.natural_twins import tell_copies
from automl_admm.runs.saved.rows_again import count_again, hash_of_order
from automl_admm.store.file_schemas import LARGEST_TOTAL
from automl_admm.store.run_folder import RunFolder, write_json

SCHEMA = 1
NOTHING = LookEvidence({}, {})


def monitor(
    folder: RunFolder, given: GivenTable, *, reference: Any = None, confidence: float = 0.95
) -> Monitored:
    """Look at rows that arrived since the last look; write the look into the folder of the run.

    With the target among the columns the limits are tested on all labelled rows of all looks;
    without it only shifts are looked for. `reference` has rows of the time of the fit; its counts
    are kept for later looks.
    """
    if not 0.0 < confidence < 1.0:
        raise ConfigurationError(f"the confidence {confidence:g} is not between 0 and 1.")
    if not len(given.frame):
        raise DataError(f"{given.title} has no rows.")
    if reference is not None and not len(reference):
        raise DataError("the reference has no rows.")
    run = open_run(folder, given, is_labelled=False)
    # That of the model in hand: another process may have put another one in the folder by now.
    model = str(run.manifest["sha256"])
    watched = _Watched(run, tuple(read_looks(folder)), model, 1.0 - confidence)
    return watched.look_at(given.frame.reset_index(drop=True), reference)


@dataclass(frozen=True)
class _Watched:
    """A run with its earlier looks."""

    run: CertifiedRun
    looks: tuple[EarlierLook, ...]
    model: str
    risk: float

    @property
    def number(self) -> int:
        return 1 + max((look.number for look in self.looks), default=0)

    @property
    def same(self) -> tuple[EarlierLook, ...]:
        """The looks at the model in hand: another one's rows do not count."""
        return tuple(look for look in self.looks if look.model == self.model)

    def _seen(self, table: Table | None) -> LookEvidence:
        if table is None:
            return NOTHING
        return evidence_of_look(self.run, table, self.number, self._heaviest().total)

    def _heaviest(self) -> Heaviest:
        looks = ((look.number, look.largest) for look in self.same)
        return Heaviest(self.run.largest_total()).or_of(looks)

    def _pooled(self, seen: LookEvidence) -> PooledEvidence:
        """Return the evidence of all looks, as if all their rows had been drawn by one weight."""
        seed = int(self.run.settings["seed"])
        looks = self.same if seen.by_limit else ()
        earlier = [look.drawn_by(seen.largest, seed).evidence for look in looks]
        return pool_looks(earlier, seen.by_limit)

    def look_at(self, frame: Any, reference: Any) -> Monitored:
        target = self.run.settings["target"]
        is_labelled = target is not None and target in frame.columns
        table = self.run.table(self.run.counted(frame)) if is_labelled else None
        hashes = RowHashes.together(()) if table is None else self.run.row_hashes(table)
        refuse_again(self.run, hashes, self.same)
        learned, doubt = (None, None) if table is None else check_new(self.run, table, hashes)
        seen = self._seen(table)
        lots, pooled = seen.by_limit, self._pooled(seen)
        # Those untold by this look have their share: it must not hang on what rows happen to tell.
        watch = Watch(self.risk, self.number, sum(map(is_of_rows, self.run.limits)))
        judged = tuple(
            watch.judge(one.limit, lots[str(one.limit)], pooled.by_limit[str(one.limit)])
            for one in self.run.limits
            if str(one.limit) in lots
        )
        kept = self._reference(reference)
        columns = columns_of_model(self.run, frame) if kept.columns else {}
        shifts = shifts_from(columns, kept.columns)
        found = Monitored(
            look=self.number,
            rows=len(frame),
            pooled_rows=sum(len(look.hashes) for look in self.same) + len(hashes),
            limits=judged,
            shifts=shifts,
            shifted=tuple(alarms(shifts, risk_at(self.number, self.risk))),
            repeated=count_again(hashes, [look.hashes for look in self.same]),
            learned=learned,
            doubt=doubt,
            is_labelled=is_labelled,
            has_reference=bool(kept.columns),
            groups=() if table is None else self.run.other_groups(table),
            untested=self._untested(target) if table is None else None,
            anew=_say_anew(self, kept),
            not_counted=tuple(self._not_counted(seen, pooled)),
            drawn=seen.draw.drawn,
            given_twice=tell_copies(hashes, self.run),
        )
        self._write(found, hashes, seen)
        if columns and PREDICTION not in kept.columns:
            keep_predictions(self.run, columns[PREDICTION], self.number)
        return found

    def _untested(self, target: str | None) -> str | None:
        """Say why rows have no labels; None if there is no limit that labelled rows would test."""
        if not any(map(is_of_rows, self.run.limits)):
            return None
        if target is not None:
            return f"no limit was tested: {self.run.data} has no column '{target}' with the target."
        return (
            f"no limit was tested: '{self.run.folder.path}' does not say which column is the "
            "target, as its y had no name. Fit again with a y that has one, such as "
            "pandas.Series(y, name='label')."
        )

    def _not_counted(self, seen: LookEvidence, pooled: PooledEvidence) -> Iterator[str]:
        """Name limits without evidence in these rows or an earlier look, and rows not drawn."""
        yield from seen.draw.warnings(self._heaviest(), self._folder() / _name(self.number))
        for name, reason in seen.untold.items():
            yield f"{name}: not tested, as {reason.rstrip('.')}"
        for name in seen.by_limit:
            if name in pooled.alone:
                yield f"{name}: 'in all' is of this look alone, as its values do not add up"
                continue
            without = [look.number for look in self.same if look.leaves_out(name)]
            if without:
                looks = _say_looks(without)
                yield f"{name}: 'in all' is without {looks}, of which no measurement was kept"

    def _reference(self, given: Any) -> Reference:
        self._folder()
        if given is not None:
            return keep(self.run, given, self.model, self.number)
        return read_reference(self.run, self.model, self.number)

    def _folder(self) -> Path:
        path = self.run.folder.monitoring
        path.mkdir(exist_ok=True)
        return path

    def _write(self, found: Monitored, hashes: RowHashes, seen: LookEvidence) -> None:
        lots = seen.by_limit
        content = {
            "schema_version": SCHEMA,
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            "data": self.run.data,
            "model_sha256": self.model,
            "result": found.as_json(),
            "evidence": dict(
                zip(lots, json.loads(encode_evidence(list(lots.values()))), strict=True)
            ),
            LARGEST_TOTAL: seen.largest,
            "row_hashes": np.sort(hashes.exact).tolist(),
            "canonical_hashes": np.sort(hashes.canonical).tolist(),
            "placed_hashes": np.sort(hashes.placed).tolist(),
            "written_order_sha256": hash_of_order(hashes),
            "written_hashes": np.sort(hashes.written).tolist(),
        }
        # A look at a model that is gone would tell nobody of the one that is there.
        refuse_replaced(self.run.folder, self.run.manifest)
        path = self._folder() / _name(found.look)
        partial = path.with_name(f".{path.name}.{os.getpid()}")
        write_json(partial, content)
        try:
            # Exclusively: two processes that look at once must not share a look's risk.
            os.link(partial, path)
        except FileExistsError:
            raise StoreError(
                f"'{path}' was written by another process meanwhile.", hint="Look again."
            ) from None
        finally:
            partial.unlink(missing_ok=True)


def _name(look: int) -> str:
    return f"look-{look:04d}.json"


def _say_looks(numbers: Sequence[int]) -> str:
    return f"look{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


def _say_anew(watched: _Watched, kept: Reference) -> str | None:
    """Tell at the first look at a new model, and at each look without a usable reference."""
    place, told = watched.run.folder.path, list[str]()
    if watched.looks and not watched.same:
        told.append(
            f"'{place}' has another model than at earlier looks: rows and shifts are counted "
            "from here on."
        )
    if kept.doubt is not None:
        told.append(kept.doubt)
    return " ".join(told) or None
