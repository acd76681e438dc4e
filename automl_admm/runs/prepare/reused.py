"""The part of other runs that a run begins with, and how it is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from automl_admm.core.evaluations import Evaluation
from automl_admm.store.file_schemas import TRIED_FIRST


@dataclass(frozen=True)
class ReusedRun:
    """The use of one other run: numbers of evaluations by what became of them.

    `same` mean here what they meant there; for `computed` ones the loss or limits were computed
    anew from kept predictions; `starts` are pipelines to try. `because` tells why it has no results
    at all, and `left` counts by reason the evaluations that are no result here.
    """

    run: str
    same: int = 0
    computed: int = 0
    starts: int = 0
    because: str = ""
    left: Mapping[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        used = [
            f"{count} {words}"
            for count, words in (
                (self.same, "as measured"),
                (self.computed, "computed anew from kept predictions"),
                (self.starts, "as pipelines to try first"),
            )
            if count
        ]
        told = f"reused of '{self.run}': {', '.join(used) or 'nothing'}"
        if self.because:
            told += f"; no results, because {self.because}"
        if self.left:
            told += f"; no result: {', '.join(f'{n} {why}' for why, n in self.left.items())}"
        return told

    def as_content(self) -> dict[str, Any]:
        """Return it as `run.json` has it."""
        return {**asdict(self), "left": dict(self.left), "told": str(self)}


@dataclass(frozen=True)
class Reused:
    """The evaluations that a run begins with, and what was used of each other run.

    A run that goes on has the evaluations in its store, and only the `content` of `run.json`. The
    texts `tried_first` are of pipelines to begin with, not given by the user: the best of other
    runs, and of earlier sessions with a void log.
    """

    evaluations: tuple[Evaluation, ...] = ()
    runs: tuple[ReusedRun, ...] = ()
    earlier: tuple[Any, ...] = ()
    tried_first: tuple[str, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """A line for each other run."""
        return tuple(map(str, self.runs))

    def as_content(self) -> dict[str, Any]:
        """Return it as `run.json` has it; nothing without other runs."""
        found = [*self.earlier, *(run.as_content() for run in self.runs)]
        tried = {TRIED_FIRST: list(self.tried_first)} if self.tried_first else {}
        return {**({"reuse": found} if found else {}), **tried}
