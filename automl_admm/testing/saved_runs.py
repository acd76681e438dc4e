"""A small run as its folder would have it, for tests of exporters.

Its evaluations end in every way that a tool must tell apart: within the limits and outside, a
forecast on some folds, a failure, one class for all rows, and a limit that is no number.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from automl_admm.core.evaluations import FOLDS_LEFT, ONE_CLASS, Evaluation, Status
from automl_admm.core.limits import Limit
from automl_admm.core.run import RunInfo, RunState, SavedRun
from automl_admm.core.space import Choice, Condition, Order, Parameter, SearchSpace
from automl_admm.store.json_content import with_digest
from automl_admm.store.run_folder import RunFolder, write_json

TREE = Condition("model", ("tree",))
SPACE = SearchSpace(
    (Choice("model", ("tree", "line")), Order("steps", ("scale", "select", "reduce"))),
    (
        Parameter("depth", 1, 8, kind="int", log=True, when=TREE),
        Parameter("rate", 0.001, 1.0, log=True),
        Parameter("bagged", 0, 1, kind="category", values=(True, None), when=TREE),
    ),
)
LIMITS = (Limit("latency_us", 50.0), Limit("recall", 0.5, at_least=True))
BEGUN = "2026-11-21T09:30:00+00:00"


def _evaluation(
    number: int, loss: float, *values: float, details: Mapping[str, Any] = MappingProxyType({})
) -> Evaluation:
    picks = {"model": "tree" if number % 2 else "line", "steps": ("select", "reduce", "scale")}
    selection = SPACE.complete(picks)
    candidate = SPACE.projected(SPACE.candidate(selection, np.full(3, number / 10)))
    return Evaluation(
        number,
        f"key {number}",
        candidate,
        Status.TIMEOUT if math.isnan(loss) else Status.SUCCESS,
        loss,
        values,
        seconds=2.0,
        text=f"{picks['model']}({number})",
        message="after 3 s" if math.isnan(loss) else "",
        details=details,
    )


BEST = _evaluation(3, 0.2, 40.0, 0.5)
EVALUATIONS = (
    _evaluation(1, 0.3, 30.0, 0.9, details={"scores": [0.6, 0.8]}),
    _evaluation(2, 0.1, 80.0, 0.9),
    BEST,
    _evaluation(4, 0.01, 40.0, 0.9, details={"scores": [0.99], FOLDS_LEFT: 3}),
    _evaluation(5, math.nan),
    _evaluation(6, 0.05, 30.0, 0.9, details={ONE_CLASS: "no"}),
    _evaluation(7, 0.04, 30.0, math.nan),
)


def sample_run(
    folder: Path | None, evaluations: Sequence[Evaluation] = EVALUATIONS, begun: str = BEGUN
) -> SavedRun:
    """Return a run with some of the evaluations; it does not look into the folder."""
    info = RunInfo(
        "credit",
        SPACE,
        LIMITS,
        folder=folder,
        loss_name="roc_auc",
        best_score=1.0,
        known=tuple(evaluations),
    )
    is_there = BEST in evaluations
    content = {"sessions": [{"begun": begun, "seconds": None}]}
    return SavedRun(info, RunState.DONE, BEST if is_there else None, is_there, content)


def change_manifest(run: Path, **changes: Any) -> None:
    """Change what `model.json` of a run folder says, as if the run had written it so."""
    file = RunFolder(run).model_manifest
    content = json.loads(file.read_text(encoding="utf-8"))
    write_json(file, with_digest({**content, **changes}))
