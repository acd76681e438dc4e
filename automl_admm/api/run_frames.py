"""The evaluations and the outer iterations of a saved run as frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from automl_admm.core.limits import Limit
from automl_admm.core.space import SearchSpace
from automl_admm.report.board import name_limits
from automl_admm.report.searched import Searched
from automl_admm.runs.session.iterations import Iteration


def frame_of_evaluations(searched: Searched, space: SearchSpace) -> Any:
    """Return a line for each evaluation, in the order of their numbers."""
    import pandas as pd

    lines = sorted(searched.standings, key=lambda one: one.evaluation.number)
    rows = [one.evaluation for one in lines]
    before = {
        "number": pd.array([one.number for one in rows], dtype="int64"),
        "key": _texts(one.key for one in rows),
        "status": _texts(one.ending for one in rows),
        "rank": pd.array([one.rank for one in lines], dtype="Int64"),
        "score": _floats(map(searched.score, rows)),
        "loss": _floats(one.loss for one in rows),
    }
    after = {
        "feasible": pd.array([one.feasible for one in lines], dtype="bool"),
        "seconds": _floats(one.seconds for one in rows),
        "fit_seconds": _floats(one.details.get("fit_seconds") for one in rows),
        "fidelity": _floats(one.candidate.fidelity for one in rows),
        "ended": pd.to_datetime(_floats(one.ended for one in rows), unit="s", utc=True),
        "pipeline": _texts(one.text for one in rows),
        "parameters": pd.Series([space.values(one.candidate) for one in rows], dtype="object"),
        "message": _texts(one.message for one in rows),
    }
    measured = [one.constraints for one in rows]
    names = name_limits(searched.limits, {*before, *after})
    return pd.DataFrame({**before, **_by_name(names, measured), **after})


def frame_of_states(iterations: Sequence[Iteration], limits: Sequence[Limit]) -> Any:
    """Return a line for each outer iteration, with a multiplier and a residual for each limit."""
    import pandas as pd

    plain = {
        "session": pd.array([one.session for one in iterations], dtype="int64"),
        "iteration": pd.array([one.iteration for one in iterations], dtype="int64"),
        "ended": pd.to_datetime(_floats(one.ended for one in iterations), unit="s", utc=True),
        "evaluations": pd.array([one.evaluations for one in iterations], dtype="int64"),
        "incumbent": pd.array([one.incumbent for one in iterations], dtype="Int64"),
        "primal_residual": _floats(one.primal_residual for one in iterations),
        "dual_residual": _floats(one.dual_residual for one in iterations),
        "penalty": _floats(one.penalty for one in iterations),
        "integer_penalty": _floats(one.integer_penalty for one in iterations),
    }
    texts = [str(limit) for limit in limits]
    multipliers = _by_name(
        [f"multiplier of {text}" for text in texts], [one.multipliers for one in iterations]
    )
    residuals = _by_name(
        [f"residual of {text}" for text in texts], [one.violations for one in iterations]
    )
    return pd.DataFrame({**plain, **multipliers, **residuals})


def _by_name(names: Sequence[str], rows: Sequence[Sequence[float]]) -> Mapping[str, Any]:
    """Return a column for each name; a failed evaluation has no values."""
    return {
        name: _floats(row[place] if place < len(row) else None for row in rows)
        for place, name in enumerate(names)
    }


def _floats(values: Any) -> Any:
    import numpy as np

    return np.array([np.nan if value is None else value for value in values], dtype=float)


def _texts(values: Any) -> Any:
    import pandas as pd

    return pd.Series(list(values), dtype="object")
