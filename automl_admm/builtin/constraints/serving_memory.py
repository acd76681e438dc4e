"""The memory of a process that does nothing but serve a model."""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from automl_admm.builtin.constraints.resources import batch_of
from automl_admm.core.evidence import Estimate
from automl_admm.pipelines import memory_peak
from automl_admm.pipelines.shipping import PICKLE, write_pickle
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.records import ConstraintPlugin

ROWS = "rows.pickle"
# A process that has not answered by then hangs.
MOST_SECONDS = 300
# It reads the file of `memory_peak` alone: importing the package would count as the model's need.
SERVE = """
import pickle, runpy, sys
from pathlib import Path
model, rows = (pickle.loads(Path(name).read_bytes()) for name in sys.argv[1:3])
model.predict(rows)
print(runpy.run_path(sys.argv[3])["peak_mb"]())
"""


def serve_mb(evaluated: EvaluatedPipeline) -> Estimate:
    """Return megabytes at the peak of a new process that loads the model and predicts 1 000 rows.

    It is all of its resident memory, Python and the libraries of the model included.
    """
    rows = batch_of(evaluated)
    with tempfile.TemporaryDirectory() as folder:
        write_pickle(evaluated.pipeline, Path(folder))
        (Path(folder) / ROWS).write_bytes(pickle.dumps(rows, pickle.HIGHEST_PROTOCOL))
        return _served(Path(folder))


def _served(folder: Path) -> Estimate:
    files = [folder / PICKLE, folder / ROWS, Path(memory_peak.__file__)]
    try:
        ended = subprocess.run(  # noqa: S603 - our own program, on files that we wrote
            [sys.executable, "-W", "ignore", "-c", SERVE, *map(str, files)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=MOST_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Estimate(math.nan, f"a process that serves it took over {MOST_SECONDS} s")
    except OSError as problem:
        return Estimate(math.nan, f"no process to serve it can be started: {problem}")
    if ended.returncode:
        return Estimate(math.nan, f"a process that serves it fails: {_reason(ended)}")
    return Estimate(float(ended.stdout.split()[-1]))


def _reason(ended: subprocess.CompletedProcess[Any]) -> str:
    lines = ended.stderr.strip().splitlines()
    return lines[-1] if lines else f"it ended with {ended.returncode}"


def constraint() -> ConstraintPlugin:
    """Return the limit; starting a process takes a second or two, so the first fold is enough."""
    return ConstraintPlugin(
        name="serve_mb",
        summary="peak memory of a process that serves the model, megabytes",
        function=serve_mb,
        better="smaller",
        first_fold=True,
        any_rows=True,
    )
