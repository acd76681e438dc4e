"""What five seconds give: every data set of a folder, one after another, through the command line.

For each are shown the seconds on the clock, the exit code, what shipped, its held-out score, and
that of a constant model: 0.5 for roc_auc, 0 for r2, the share of the largest class for accuracy.

    taskset -c 1 python benchmarks/five_seconds.py ../shared/data [--budget 5]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pandas as pd

CONSTANT = {"roc_auc": 0.5, "r2": 0.0}


def run(data: Path, target: str, budget: float) -> tuple[float, int, dict[str, Any]]:
    """Fit; return the seconds, the exit code and the summary."""
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        ended = subprocess.run(
            [
                *(sys.executable, "-m", "automl_admm", "fit", str(data), "--target", target, "-q"),
                *("--json", "--budget", f"{budget}s", "--out", f"{folder}/run"),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=False,
        )
        took = time.perf_counter() - begun
    return took, ended.returncode, json.loads(ended.stdout) if ended.stdout else {}


def constant_score(metric: str, target: pd.Series) -> float:
    """Return the score of a model that says the same of all rows."""
    known = CONSTANT.get(metric)
    return float(target.value_counts(normalize=True).max()) if known is None else known


def main() -> None:
    """Print a line for each data set, and how many are better than a constant."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--budget", type=float, default=5.0)
    asked = parser.parse_args()
    described = sorted(path for path in asked.folder.glob("*.json"))
    better = 0
    for path in described:
        target = json.loads(path.read_text(encoding="utf-8"))["target"]
        data = path.with_suffix(".csv")
        load = os.getloadavg()[0]
        took, code, summary = run(data, target, asked.budget)
        metric, score = str(summary.get("metric")), summary.get("held_out_score")
        constant = constant_score(metric, pd.read_csv(data, usecols=[target])[target])
        is_better = code == 0 and score is not None and score > constant
        better += is_better
        shown = "none" if score is None else f"{score:.3f}"
        note = "" if is_better else " NOT BETTER"
        print(
            f"{data.stem:15} {took:5.1f} s, exit {code}, {metric} {shown} (constant {constant:.3f})"
            f"{note} {summary.get('fallback') or ''} load {load:.1f}",
            flush=True,
        )
    print(f"{better} of {len(described)} are better than a constant")


if __name__ == "__main__":
    main()
