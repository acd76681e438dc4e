"""Every data set of a folder in four formats: a model in seconds, the same predictions from each.

Each `NAME.csv` (with `NAME.json`, which names the target) is written as CSV with semicolons and
decimal commas, as Parquet, as ARFF and packed by gzip. From each of them a model is fitted with
nothing but the target and a budget, and predicts the rows of all four files. A line each: the time
that it took, the exit code, the score on held-out rows beside that of a constant prediction, and
whether all predictions are equal.

    python benchmarks/ways_in.py --data ../shared/data --budget 5
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from frames_files import arff, separated

CONSTANT_AUROC, CONSTANT_R2 = 0.5, 0.0


def as_gzip(frame: pd.DataFrame, path: Path) -> None:
    """Write CSV packed by gzip."""
    path.write_bytes(gzip.compress(frame.to_csv(index=False).encode()))


FORMATS: dict[str, Callable[[pd.DataFrame, Path], None]] = {
    "semicolons.csv": separated(";", ","),
    "table.parquet": lambda frame, path: frame.to_parquet(path),
    "table.arff": arff,
    "packed.csv.gz": as_gzip,
}


@dataclass(frozen=True)
class Ended:
    """A fit: the format that it read, its end, and the predictions from each format."""

    data: str
    form: str
    seconds: float
    code: int
    score: float
    constant: float
    equal: str

    def __str__(self) -> str:
        return (
            f"{self.data:15}{self.form:16}{self.seconds:6.1f} s  exit {self.code}  "
            f"{self.score:7.4f}  constant {self.constant:.4f}  {self.equal}"
        )


def call(*arguments: str) -> tuple[int, str]:
    """Call the program; return its exit code and its last line of errors."""
    command = [sys.executable, "-m", "automl_admm", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, (done.stderr.strip().splitlines() or [""])[-1]


def constant_score(facts: dict[str, Any], target: pd.Series) -> float:
    """Return the score of a constant prediction by the metric of a run without --metric."""
    if facts["task"] == "regression":
        return CONSTANT_R2
    if facts["task"] == "binary":
        return CONSTANT_AUROC
    return float(target.value_counts(normalize=True).iloc[0])


def compare(run: Path, files: list[Path]) -> str:
    """Predict the rows of each file; say if the predictions are equal."""
    found = []
    for file in files:
        out = run.parent / f"{file.name}.predictions.csv"
        code, said = call("predict", str(run), str(file), "-o", str(out))
        if code:
            return f"{file.name}: exit {code}: {said}"
        found.append(pd.read_csv(out, dtype=str))
    differing = [
        file.name for file, one in zip(files, found, strict=True) if not one.equals(found[0])
    ]
    return f"differs: {', '.join(differing)}" if differing else "all equal"


def fit_each(source: Path, budget: float) -> list[Ended]:
    """Fit a data set from each of its formats."""
    facts = json.loads(source.with_suffix(".json").read_text())
    frame = pd.read_csv(source)
    constant = constant_score(facts, frame[facts["target"]])
    ended = []
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in FORMATS]
        for file, write in zip(files, FORMATS.values(), strict=True):
            write(frame, file)
        for file in files:
            run = Path(folder) / f"run-{file.name}"
            given = [
                "--target",
                facts["target"],
                "--budget",
                f"{budget:g}s",
                "--out",
                str(run),
                "-q",
            ]
            begun = time.monotonic()
            code, said = call("fit", str(file), *given)
            seconds = time.monotonic() - begun
            score, equal = float("nan"), said
            if (run / "model.json").is_file():
                held_out = json.loads((run / "model.json").read_text())["held_out_score"]
                score = float("nan") if held_out is None else float(held_out)
                equal = compare(run, files)
            ended.append(Ended(source.stem, file.name, seconds, code, score, constant, equal))
    return ended


def main() -> None:
    """Print a line a fit, and the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--budget", type=float, default=5.0)
    asked = parser.parse_args()
    found: list[Ended] = []
    for source in sorted(asked.data.glob("*.csv")):
        if not source.with_suffix(".json").is_file():
            continue
        for ended in fit_each(source, asked.budget):
            found.append(ended)
            print(ended, flush=True)
    better = sum(ended.score > ended.constant for ended in found)
    equal = sum(ended.equal == "all equal" for ended in found)
    print(f"\nexit 0: {sum(ended.code == 0 for ended in found)} of {len(found)}")
    print(f"better than a constant: {better}; the same predictions from all formats: {equal}")


if __name__ == "__main__":
    main()
