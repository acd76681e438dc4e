"""The models that an evaluation fits on its folds: kept, and shipped as their mean."""

from __future__ import annotations

import math
import pickle
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np

from automl_admm.core.errors import InvalidOutcome
from automl_admm.core.evaluations import Evaluation, is_feasible
from automl_admm.core.limits import Limit
from automl_admm.core.results import EvaluationResult
from automl_admm.data.row_roles import Roles
from automl_admm.pipelines.ensembles.all_classes import knowing_all
from automl_admm.pipelines.ensembles.voting import vote
from automl_admm.pipelines.predictions.measured import Seen

Split = tuple[Any, Any]
# The file in the folder of an evaluation, and the most bytes that it may have.
MODELS = "models.pickle"
MOST_BYTES = 128_000_000


def shipped_folds(splits: Sequence[Split], roles: Roles) -> tuple[int, ...]:
    """Return the places of the splits whose models ship.

    In the order of time it is one alone: the last of those that learn from the most rows.
    """
    if roles.times is None:
        return tuple(range(len(splits)))
    most = max(range(len(splits)), key=lambda place: (len(splits[place][0]), place))
    return (most,)


def rows_learned(splits: Sequence[Split], roles: Roles) -> int:
    """Return the number of rows from which one of the shipped models learned, at least."""
    trained = [np.asarray(splits[place][0]) for place in shipped_folds(splits, roles)]
    return len(np.unique(np.concatenate(trained)))


@dataclass(frozen=True, eq=False)
class FoldModels:
    """Fitted pipelines of the folds that ship, the seconds of all fits, and their largest memory.

    Each learned from other rows of the search, and from none that were set aside or held out.
    """

    models: tuple[Any, ...]
    fit_seconds: float
    peak_mb: float

    @classmethod
    def of(cls, seen: Sequence[Seen], places: Sequence[int]) -> FoldModels:
        """Return the models of an evaluation at these places among its folds."""
        parts = [seen[place].part for place in places]
        return cls(
            tuple(seen[place].pipeline for place in places),
            sum(part.fit_seconds for part in parts),
            max(part.peak_mb for part in parts),
        )

    @property
    def has_mean(self) -> bool:
        """False for several classifiers without probabilities."""
        return len(self.models) == 1 or all(map(_can_be_averaged, self.models))

    def together(self, classes: Any | None) -> Any:
        """Return a single model as it is, and several as a vote with equal weights."""
        if len(self.models) == 1:
            return self.models[0]
        models = self.models
        for one in models:
            check_averaged(one)
        models = tuple(knowing_all(one, classes) for one in models)
        names = [f"fold_{number}" for number in range(1, len(models) + 1)]
        return vote(dict(zip(names, models, strict=True)), [1] * len(models), classes)

    def write(self, path: Path, most: int) -> bool:
        """Pickle it, and return True; leave no file if it is too large, or cannot be pickled."""
        try:
            with path.open("wb") as file:
                _dump(self, _Bounded(file, most))
        except Exception:  # noqa: BLE001 - a component is anybody's code, and a disk may be full
            with suppress(OSError):
                path.unlink(missing_ok=True)
            return False
        return True


def check_averaged(model: Any) -> None:
    """Raise if a model has no predictions to average."""
    if not _can_be_averaged(model):
        raise InvalidOutcome("a pipeline without probabilities has no mean of its fold models")


def _can_be_averaged(model: Any) -> bool:
    return not hasattr(model, "classes_") or hasattr(model, "predict_proba")


class _TooLargeError(Exception):
    """Raised when a file would have more bytes than it may."""


@dataclass
class _Bounded:
    """A file that takes so many bytes and no more."""

    file: IO[bytes]
    left: int

    def write(self, content: Any) -> int:
        """Write bytes; raise if they are too many."""
        self.left -= memoryview(content).nbytes
        if self.left < 0:
            raise _TooLargeError
        return self.file.write(content)


def _dump(models: FoldModels, file: _Bounded) -> None:
    """Pickle the models; classes of a notebook are written with their definition."""
    most = file.left
    try:
        pickle.dump(models, file, protocol=pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, AttributeError):
        import cloudpickle

        file.file.seek(0)
        file.file.truncate()
        file.left = most
        cloudpickle.dump(models, file, protocol=pickle.HIGHEST_PROTOCOL)


@dataclass(frozen=True)
class Keeping:
    """The rule by which an evaluation keeps its fold models: it has to beat the incumbent.

    `loss` is that of an incumbent within the limits, infinite without one.
    """

    loss: float = math.inf
    most_bytes: int = field(default=MOST_BYTES)

    @classmethod
    def after(cls, best: Evaluation | None, limits: Sequence[Limit]) -> Keeping:
        """Return the rule beside the best evaluation so far."""
        is_known = best is not None and is_feasible(best, limits)
        return cls(best.loss) if best is not None and is_known else cls()

    def wants(self, found: EvaluationResult, limits: Sequence[Limit]) -> bool:
        """Return True for the best so far; nothing within the limits is worse than something."""
        if math.isinf(self.loss):
            return True
        pairs = zip(limits, found.constraints, strict=True)
        return found.loss < self.loss and all(limit.holds(value) for limit, value in pairs)
