"""Out-of-fold predictions of the best evaluations, kept for ensembles within a bound."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile, ZipFile

import numpy as np

from automl_admm.core.evaluations import Evaluation
from automl_admm.core.limits import Limit
from automl_admm.core.messages import reason_of
from automl_admm.core.protocols import Finished
from automl_admm.core.ranking import also_by_loss, rank
from automl_admm.core.space import Array
from automl_admm.execution.task_folders import open_regular, remove_tree
from automl_admm.pipelines.cross_validation import PREDICTIONS
from automl_admm.pipelines.ensembles.within import still_limits
from automl_admm.pipelines.predictions.kept_answers import SCORES

if TYPE_CHECKING:
    from automl_admm.runs.prepare.preparation import Preparation

# The files of so many evaluations, and their bytes together.
MOST_FILES, MOST_BYTES = 50, 256_000_000
# A file has an array header and a name beside the numbers of each array.
OVERHEAD = 4096
ROUNDING = 1e-3


class DamagedPredictionsError(Exception):
    """Raised on a file that does not hold the predictions of a run's rows."""


@dataclass(frozen=True, eq=False)
class Answers:
    """The out-of-fold predictions, and the scores of a decision function.

    The scores are None if there is no such function, and empty if nobody asked for it.
    """

    predictions: Array
    scores: Array | None = None


class KeptPredictions:
    """Own the predictions of the best evaluations on all rows and folds, a file each.

    With limits that members keep `together` half of them are the best by loss, within these or not.
    """

    def __init__(
        self,
        folder: Path,
        past: Iterable[Evaluation],
        limits: Sequence[Limit],
        *,
        together: Collection[Limit] = (),
    ) -> None:
        self._folder = folder
        self._limits = limits
        self._together = together
        self._kept = rank((one for one in past if self._file(one).is_file()), limits)

    @classmethod
    def of(cls, folder: Path, past: Iterable[Evaluation], prepared: Preparation) -> KeptPredictions:
        """Return those of a run, outside of limits as well where members keep them together."""
        together = [aim for _, aim in still_limits(prepared.work)]
        return cls(folder, past, prepared.aims, together=together)

    @property
    def evaluations(self) -> Sequence[Evaluation]:
        """The evaluations with kept predictions, best first."""
        return self._kept

    def first(self, count: int) -> Sequence[Evaluation]:
        """Return the evaluations in the order of their worth as members, if so many are asked for.

        Where members keep limits together, half of them are the best by loss, also outside these;
        those outside of another limit come last.
        """
        if not self._together:
            return self._kept
        return also_by_loss(self._kept, count // 2, self._limits, self._together)

    def keep(self, evaluation: Evaluation, finished: Finished) -> None:
        """Move an evaluation's predictions here, drop its scratch, and what is beyond the bound."""
        if finished.folder is None:
            return
        source = finished.folder / PREDICTIONS
        if evaluation.is_ranked and source.exists():
            self._folder.mkdir(exist_ok=True)
            source.replace(self._file(evaluation))
            self._kept = rank([*self._kept, evaluation], self._limits)
            self._prune()
        remove_tree(finished.folder)

    def read(self, evaluation: Evaluation, rows: Any) -> Array:
        """Return the predictions of the rows; raise if the file holds anything else."""
        content = self._content(evaluation, rows)
        return np.asarray(content["predictions"], dtype=float)

    def read_answers(self, evaluation: Evaluation, rows: Any) -> Answers:
        """Return the answers as they were measured; raise as `read`."""
        content = self._content(evaluation, rows)
        return Answers(content["predictions"], content.get(SCORES))

    def _content(self, evaluation: Evaluation, rows: Any) -> Mapping[str, Array]:
        try:
            return _read(self._file(evaluation), np.asarray(rows))
        except (OSError, BadZipFile, ValueError, TypeError, KeyError, EOFError) as problem:
            raise DamagedPredictionsError(reason_of(problem)) from problem

    def _file(self, evaluation: Evaluation) -> Path:
        return self._folder / f"{evaluation.number}.npz"

    def _prune(self) -> None:
        """Remove the files of the worst evaluations: the first ones stay."""
        spent, kept = 0, list[Evaluation]()
        for evaluation in self.first(MOST_FILES):
            file = self._file(evaluation)
            spent += file.stat().st_size if file.is_file() else 0
            if len(kept) < MOST_FILES and spent <= MOST_BYTES:
                kept.append(evaluation)
            else:
                file.unlink(missing_ok=True)
        self._kept = rank(kept, self._limits)


def remove_others(folder: Path, known: Iterable[Evaluation]) -> None:
    """Remove the files of evaluations not in the log any more: their numbers are given again."""
    names = {f"{one.number}.npz" for one in known if one.is_ranked}
    for file in folder.glob("*.npz"):
        if file.name not in names and file.stem.isdigit() and file.is_file():
            file.unlink(missing_ok=True)


def are_probabilities(predictions: Array, classes: int) -> bool:
    """Return True for a probability of each class in every row."""
    if predictions.ndim != 2 or predictions.shape[1] != classes:
        return False
    is_share = bool((predictions >= -ROUNDING).all())
    return is_share and bool((np.abs(predictions.sum(axis=1) - 1.0) <= ROUNDING).all())


def _read(path: Path, rows: Any) -> Mapping[str, Array]:
    with open_regular(path) as file:
        _refuse_bombs(path, file)
        with np.load(file, allow_pickle=False) as content:
            found = {name: content[name] for name in content.files}
    predictions = found["predictions"]
    if not np.array_equal(found["rows"], rows) or predictions.shape[:1] != rows.shape:
        raise ValueError("it is of other rows")
    scores = found.get(SCORES, predictions)
    if scores.shape[:1] not in (rows.shape, (0,)):
        raise ValueError("its scores are of other rows")
    if not (np.isfinite(predictions).all() and np.isfinite(scores).all()):
        raise ValueError("its numbers are not all finite")
    return found


def _refuse_bombs(path: Path, file: Any) -> None:
    """Raise if a packed file would become more than any that a run wrote."""
    with ZipFile(file) as archive:
        unpacked = sum(item.file_size for item in archive.infolist())
    if unpacked > path.stat().st_size + OVERHEAD:
        raise ValueError(f"it would become {unpacked} bytes")
    file.seek(0)
