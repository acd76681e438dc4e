"""Processor seconds that a report takes, and its size, by the number of evaluations in the log.

The run is made up: four limits, three workers, two sessions, one evaluation in seven a failure, and
an outer iteration of ADMM for each twenty evaluations.

    python benchmarks/report_speed.py
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import time
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from automl_admm.core.evaluations import ENDED, Evaluation, Status
from automl_admm.core.space import Candidate, Selection
from automl_admm.report.writing import make_report
from automl_admm.runs.session.iterations import Iteration
from automl_admm.store.run_folder import RunFolder
from automl_admm.store.sqlite.log import SqliteStore

SIZES = (50, 500, 5000)
LIMITS = ("size_mb", "latency_us", "fpr", "recall_gap[sex]")
STEPS = ("impute", "scale", "select", "pca", "boost", "forest", "linear", "neighbours")
BEGUN, SECONDS = 1_790_000_000.0, 1.7


def main() -> None:
    """Print a line for each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    print("evaluations   seconds   page kB   numbers kB")
    for size in parser.parse_args().sizes:
        with tempfile.TemporaryDirectory() as place:
            run = write_run(Path(place) / "run", size)
            begun = time.process_time()
            made = make_report(run)
            spent = time.process_time() - begun
        page, numbers = len(made.page) / 1000, len(made.content) / 1000
        print(f"{size:11d} {spent:9.2f} {page:9.0f} {numbers:12.0f}")


def write_run(path: Path, size: int) -> Path:
    """Write the folder of a run that was killed after so many evaluations."""
    path.mkdir()
    folder, rng = RunFolder(path), np.random.default_rng(0)
    settings = {
        "grammar_text": "start: boost",
        "space_sha256": "0" * 64,
        "starts": [],
        "metric": "roc_auc",
        "metric_best": 1.0,
        "workers": 3,
        "seed": 0,
        "limits": [{"name": name, "bound": 0.5, "at_least": False} for name in LIMITS],
        "target": "y",
        "sensitive": [],
    }
    half = BEGUN + SECONDS * size / 6
    stretches = [{"begun": _moment(BEGUN), "seconds": half - BEGUN}]
    stretches.append({"begun": _moment(half + 3600), "seconds": None})
    data = {"rows": 1000, "columns": 20, "sha256": "1" * 64, "held_out_sha256": None}
    content = {"state": "running", "settings": settings, "data": data, "sessions": stretches}
    folder.settings.write_text(json.dumps(content))
    with closing(SqliteStore(folder.store, create=True)) as store:
        store.begin_anew([_evaluation(number, size, rng) for number in range(1, size + 1)])
    lines = (json.dumps(asdict(_iteration(place))) for place in range(size // 20))
    folder.iterations.write_text("".join(f"{line}\n" for line in lines))
    return path


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def _evaluation(number: int, size: int, rng: np.random.Generator) -> Evaluation:
    steps = [str(step) for step in rng.choice(STEPS, size=int(rng.integers(1, 5)), replace=False)]
    ok = number % 7 != 0
    ended = BEGUN + SECONDS * number / 3 + (3600 if number > size / 2 else 0)
    scores = [round(float(score), 6) for score in rng.random(5)]
    known = {"scores": scores, "steps": dict.fromkeys(steps, 0.31)} if ok else {"trace": "a\nb"}
    return Evaluation(
        number=number,
        key=f"key-{number}",
        candidate=Candidate(Selection((("start.model", steps[-1]),)), (float(rng.random()),)),
        status=Status.SUCCESS if ok else Status.ERROR,
        loss=float(rng.random()) if ok else math.nan,
        constraints=tuple(float(value) for value in rng.random(len(LIMITS))) if ok else (),
        seconds=SECONDS,
        text=" ".join(f"{step}(alpha={rng.random()})" for step in steps),
        message="" if ok else f"ValueError: row {number} is odd",
        details={**known, ENDED: round(ended, 3)},
    )


def _iteration(place: int) -> Iteration:
    return Iteration(
        session=1,
        iteration=place,
        ended=BEGUN + 20 * SECONDS * place / 3,
        evaluations=20 * place,
        incumbent=1,
        primal_residual=1.0 / (place + 1),
        dual_residual=0.5 / (place + 1),
        penalty=1.0,
        integer_penalty=1.0 / (place + 1),
        multipliers=tuple(0.01 * place * (limit + 1) for limit in range(len(LIMITS))),
        violations=(0.1,) * len(LIMITS),
    )


if __name__ == "__main__":
    main()
