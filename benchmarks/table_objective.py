"""A table of measured pipelines as an objective: searches without data, without noise, in no time.

    from table_objective import PipelineTable
    table = PipelineTable.read("default-pc4")
    table.known(table.every[0]).loss

`pipeline_tables.py` makes the tables. The space is made again from the grammar that stands in the
file, and a pipeline is looked up by its text, so a table made with other components is refused.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
from grid_space import GridSpace
from pipeline_tables import FORMAT, TABLES

from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.limits import Limit
from automl_admm.core.space import Array, Candidate

MEASURES = {"latency_us": "latency", "size_kb": "size", "auc_gap": "gap"}


class TableError(Exception):
    """A file that is no table of this version, in one line."""


@dataclass(frozen=True)
class Known:
    """What a table says of a pipeline: its loss is the mean of the folds, NaN for a failure."""

    text: str
    loss: float
    seconds: float
    measures: Mapping[str, float]
    message: str = ""


@dataclass(frozen=True, eq=False)
class PipelineTable:
    """Every pipeline of a space with what was measured of it."""

    name: str
    facts: Mapping[str, Any]
    grid: GridSpace
    texts: Sequence[str]
    columns: Mapping[str, Array]
    messages: Sequence[str]

    @classmethod
    def read(cls, name: str, folder: Path = TABLES) -> PipelineTable:
        """Read a table by the name of its file."""
        path = folder / f"{name}.npz"
        try:
            with np.load(path) as found:
                content = {field: found[field] for field in found.files}
            facts = json.loads(str(content["facts"]))
        except (OSError, KeyError, ValueError) as problem:
            raise TableError(f"{path}: no table of pipelines ({problem}).") from None
        if facts.get("format") != FORMAT:
            raise TableError(
                f"{path}: format {facts.get('format')}, this script reads {FORMAT};"
                " make the table again with pipeline_tables.py."
            )
        columns = {
            "loss": content["losses"].mean(axis=1, dtype=float),
            "seconds": content["seconds"].sum(axis=1, dtype=float),
            **{name: content[field].astype(float) for name, field in MEASURES.items()},
        }
        grid = GridSpace.of(facts["grammar"], path.name)
        texts, messages = content["pipelines"].tolist(), content["messages"].tolist()
        return cls(path.stem, facts, grid, texts, columns, messages)

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The row of each pipeline."""
        return {text: place for place, text in enumerate(self.texts)}

    @cached_property
    def every(self) -> tuple[Candidate, ...]:
        """A candidate of each pipeline, in the order of the rows."""
        by_text = {self.grid.text(candidate): candidate for candidate in self.grid.every()}
        if by_text.keys() != self.places.keys():
            raise TableError(f"{self.name}: its space has other pipelines than were measured.")
        return tuple(by_text[text] for text in self.texts)

    def known(self, candidate: Candidate) -> Known:
        """Look a candidate up."""
        text = self.grid.text(candidate)
        place = self.places.get(text)
        if place is None:
            raise TableError(f"{self.name}: has no '{text}'; was it made with other components?")
        measures = {name: float(self.columns[name][place]) for name in MEASURES}
        loss, seconds = (float(self.columns[name][place]) for name in ("loss", "seconds"))
        return Known(text, loss, seconds, measures, self.messages[place])

    def evaluate(self, number: int, candidate: Candidate, limits: Sequence[Limit]) -> Evaluation:
        """Return the evaluation of a candidate, as the log of a run has it."""
        known = self.known(candidate)
        values = tuple(known.measures[limit.name] for limit in limits)
        status = Status.SUCCESS if math.isfinite(known.loss) else Status.ERROR
        return Evaluation(
            number, known.text, candidate, status, known.loss, values, known.seconds, known.text
        )

    def least(self, limits: Sequence[Limit] = ()) -> float:
        """Return the least loss of all pipelines within the limits."""
        return float(np.nanmin(self.columns["loss"][self.within(limits)]))

    def within(self, limits: Sequence[Limit]) -> np.ndarray:
        """Mark the pipelines within the limits."""
        found = np.isfinite(self.columns["loss"])
        for limit in limits:
            found &= limit.turned(1.0) * self.columns[limit.name] <= limit.turned(limit.bound)
        return found


@cache
def table_of(name: str, folder: Path = TABLES) -> PipelineTable:
    """Read a table, once a process."""
    return PipelineTable.read(name, folder)
