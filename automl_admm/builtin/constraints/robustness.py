"""The built-in limits on rows whose score moves if a column is blank, or its numbers are noisy.

What is asked for a row follows from that row alone, so that it moves or not by itself, whatever
rows stand beside it: a certificate is that of any rate.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from automl_admm.builtin.constraints.score_moves import count_moves, score_share
from automl_admm.core.errors import ConfigurationError
from automl_admm.core.evidence import Estimate, Evidence, Largest, Rate
from automl_admm.data.filled_cells import as_frame, filled_columns, filled_rows, made_of
from automl_admm.data.fingerprints import mix
from automl_admm.data.spreads import numeric_labels
from automl_admm.pipelines.build import predict_scores
from automl_admm.pipelines.thresholds.single import response_of
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.records import ConstraintPlugin

FILLED = "rows with a value in column '{}'"
NUMBERS = "rows with a number"
NO_COLUMNS = "the model is given no column that has a value"
NO_NUMBERS = "limit 'noise_moves': no column of this table holds numbers, and noise is in numbers."
NO_SPREADS = "nobody wrote down how far the numbers spread in the rows of the search"


@dataclass(frozen=True, slots=True)
class Noise:
    """Options of `noise_moves`: numbers move by this part of the spread of their column.

    Scores count as moved by more than `more_than`.
    """

    by: float = 0.05
    more_than: float = 0.1


@dataclass(frozen=True, slots=True)
class BlankMoves:
    """The share of rows whose score moves by more than `least` if one column is blank.

    It is that of the column whose absence moves the scores of the most rows.
    """

    least: float

    def __call__(self, evaluated: EvaluatedPipeline) -> Evidence:
        """Return max_j #{i : max_k |s_k(x_i without column j) − s_k(x_i)| > N} / n_j.

        The columns are those of the user, from each of which several of the model may be made, and
        the n_j rows those with a value in it. A certificate is about all with a value in the rows
        of the search: its own rows do not choose among them.
        """
        known = evaluated.filled
        if known is None:
            known = filled_columns(evaluated.X, evaluated.origins, evaluated.blanks)
        shares = {
            f"column '{name}'": self._of(evaluated, name, labels)
            for name, labels in made_of(as_frame(evaluated.X), evaluated.origins).items()
            if name in known
        }
        in_doubt = [share for share in shares.values() if isinstance(share, Estimate)]
        if in_doubt:
            return in_doubt[0]
        return Largest(shares) if shares else Estimate(math.nan, NO_COLUMNS)

    def _of(self, evaluated: EvaluatedPipeline, name: str, labels: list[Any]) -> Rate | Estimate:
        X, blanks = as_frame(evaluated.X), evaluated.blanks or {}
        filled = filled_rows(X, labels, blanks)
        rows = X if filled.all() else X.loc[filled]
        blank = rows.copy(deep=False)  # columns are replaced, and none is changed
        for label in labels:
            # A column of the same kind with nothing in it: whole numbers become floating-point.
            fill = {"fill_value": blanks[str(label)]} if str(label) in blanks else {}
            blank[label] = rows[label].iloc[:0].reindex(rows.index, **fill)
        return _moved(evaluated, rows, blank, self.least, FILLED.format(name))


@dataclass(frozen=True, slots=True)
class NoiseMoves:
    """The share of rows whose score moves by more than a number if all their numbers are noisy."""

    noise: Noise

    def __call__(self, evaluated: EvaluatedPipeline) -> Evidence:
        """Return #{i : max_k |s_k(x_i ± e σ) − s_k(x_i)| > N} / n over rows with a number.

        Each number is made larger or smaller by a part e of the standard deviation σ of its column
        in the rows of the search; its own digits and the name of its column say which.
        """
        if evaluated.spreads is None:
            return Estimate(math.nan, NO_SPREADS)
        X = as_frame(evaluated.X)
        noisy, has_numbers = X.copy(deep=False), np.zeros(len(X), dtype=bool)
        # Without those made of a date or a text of the user.
        origins = evaluated.origins or {}
        labels = [one for one in numeric_labels(X) if origins.get(str(one), str(one)) == str(one)]
        if not labels:
            raise ConfigurationError(NO_NUMBERS, hint="Choose another limit.")
        for label in labels:
            numbers = X[label].to_numpy(dtype=float, na_value=np.nan)
            size = self.noise.by * evaluated.spreads.get(str(label), 0.0)
            has_numbers |= np.isfinite(numbers) & (size > 0.0)
            with np.errstate(over="ignore"):
                noisy[label] = numbers + size * _signs(numbers, str(label))
        given = X.loc[has_numbers], noisy.loc[has_numbers]
        return _moved(evaluated, *given, self.noise.more_than, NUMBERS)


def _signs(numbers: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """Return 1 or −1 for each number, by its digits and the name of its column.

    Single precision is enough: one file format writes the last digit otherwise than another.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        bits = numbers.astype(np.float32).view(np.uint32).astype(np.uint64)
    salt = np.full(len(bits), crc32(name.encode()), dtype=np.uint64)
    return np.where(mix(bits, salt) & np.uint64(1), 1.0, -1.0)


def _moved(
    evaluated: EvaluatedPipeline, rows: Any, changed: Any, least: float, of: str
) -> Rate | Estimate:
    """Return the share of rows whose score moves, of several classes the one that moves most."""
    if not len(rows):
        return Rate(0, 0, of)
    pipeline, is_frame = evaluated.pipeline, hasattr(evaluated.X, "columns")
    given = (one if is_frame else one.to_numpy() for one in (rows, changed))
    before, after = (np.asarray(predict_scores(pipeline, one)) for one in given)
    if not response_of(pipeline) and hasattr(pipeline, "classes_"):  # decisions alone
        is_other = np.asarray(before != after, dtype=float)
        return Rate(int(np.sum(is_other > least)), len(rows), of)
    return count_moves(before, after, of, least=least)


def constraints() -> Iterable[ConstraintPlugin]:
    """Yield the limits."""
    blank = "share of rows whose score moves by more than N if one column, the worst, is blank"
    yield score_share("blank_moves", blank, numbered=partial(_blank, blank), asks_model=True)
    noisy = "share of rows whose score moves by more than a number under noise"
    yield score_share(
        "noise_moves", noisy, options=Noise, configured=partial(_noise, noisy), asks_model=True
    )


def _blank(summary: str, number: float) -> ConstraintPlugin:
    return score_share("blank_moves", summary, function=BlankMoves(number), asks_model=True)


def _noise(summary: str, noise: Noise) -> ConstraintPlugin:
    if not 0.0 < noise.by < math.inf:
        raise ValueError("by is a part of the standard deviation, above 0, such as 0.05")
    if not 0.0 <= noise.more_than < math.inf:
        raise ValueError("more_than is a number of 0 or more")
    return score_share("noise_moves", summary, function=NoiseMoves(noise), asks_model=True)
