"""Tables and files as people have them: this package beside its rivals, score by score.

Each of `frames_tables.TABLES` (in memory) and `frames_files.FILES` is given to each system, in a
process of its own, with nothing but the target. The score is AUROC for two classes, accuracy for
several and R² for quantities, on rows that none has seen; all make the same tables from the seed.
`plain` is a ColumnTransformer with one-hot encoding and histogram boosting, `skrub` its pipeline
for any table.

Rivals run in environments of their own: a folder with one by the name of each (`skrub`, `flaml`,
`autogluon`), as `python benchmarks/frames.py --install FOLDER` makes them. A run that was
interrupted goes on from the file of its results.

    python benchmarks/frames.py --rivals FOLDER --out frames.jsonl --seconds 10
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from frames_files import FILES
from frames_tables import TABLES

HERE = Path(__file__).resolve().parent
# Nothing within so little of the best is called worse.
CLOSE = 0.01
PATIENCE = 300.0
# Threads that wait for each other on one core make a rival look slow.
ONE_CORE = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
RIVALS = {
    "skrub": ("skrub", "pyarrow"),
    "FLAML": ("flaml[automl]", "pyarrow"),
    "AutoGluon": ("autogluon.tabular[lightgbm,catboost,xgboost]", "pyarrow"),
}
SYSTEMS = ("ours", "plain", *RIVALS)


def install(folder: Path) -> None:
    """Make an environment for each rival."""
    for system, packages in RIVALS.items():
        place = folder / system.lower()
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
        pip = [str(place / "bin" / "pip"), "install", "--quiet", *packages]
        subprocess.run(pip, check=True)


def python_of(system: str, rivals: Path) -> str:
    """Return the interpreter of a system; `plain` needs nothing but scikit-learn."""
    return str(rivals / system.lower() / "bin" / "python") if system in RIVALS else sys.executable


def measure(system: str, kind: str, name: str, asked: argparse.Namespace) -> dict[str, Any]:
    """Run a system on one item; what ends without an answer is an error."""
    command = [python_of(system, asked.rivals), str(HERE / "frames_rivals.py"), "--system", system]
    command += [f"--{kind}", name, "--seed", str(asked.seed), "--seconds", str(asked.seconds)]
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE, check=False, env=ONE_CORE
        )
    except subprocess.TimeoutExpired:
        return {"error": f"still running after {PATIENCE:g} s"}
    lines = [line for line in ended.stdout.splitlines() if line.startswith("RESULT ")]
    if not lines:
        return {"error": f"exit code {ended.returncode}: {ended.stderr.strip()[-200:]}"}
    found: dict[str, Any] = json.loads(lines[-1].removeprefix("RESULT "))
    return found


def run_all(asked: argparse.Namespace) -> list[dict[str, Any]]:
    """Run what is not in the file of results yet, and return all of it."""
    rows = (
        [json.loads(line) for line in asked.out.read_text().splitlines()]
        if asked.out.exists()
        else []
    )
    done = {(row["system"], row["kind"], row["name"]) for row in rows}
    items = [("frame", name) for name in TABLES] + [("file", name) for name in FILES]
    for kind, name in items:
        for system in asked.systems:
            if (system, kind, name) in done:
                continue
            found = measure(system, kind, name, asked)
            rows.append({"system": system, "kind": kind, "name": name, **found})
            with asked.out.open("a") as file:
                file.write(json.dumps(rows[-1]) + "\n")
    return rows


def report(rows: list[dict[str, Any]]) -> str:
    """Return the table, and how often each system is within 0.01 of the best."""
    by_item: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for row in rows:
        by_item.setdefault((row["kind"], row["name"]), {})[row["system"]] = row
    lines = [f"{'':48}" + "".join(f"{system:>11}" for system in SYSTEMS)]
    close = dict.fromkeys(SYSTEMS, 0)
    refused = dict.fromkeys(SYSTEMS, 0)
    for (kind, name), found in by_item.items():
        scores = {system: row["score"] for system, row in found.items() if "score" in row}
        best = max(scores.values(), default=float("nan"))
        cells = []
        for system in SYSTEMS:
            is_close = system in scores and scores[system] >= best - CLOSE
            close[system] += is_close
            refused[system] += system in found and system not in scores
            shown = (
                f"{scores[system]:.3f}" if system in scores else "error" if system in found else ""
            )
            cells.append(f"{shown + ('*' if is_close else ' '):>11}")
        lines.append(f"{kind + ': ' + name:48}" + "".join(cells))
    lines.append(
        f"{'best or within 0.01 of it (*)':48}" + "".join(f"{close[s]:>11}" for s in SYSTEMS)
    )
    lines.append(f"{'error or refused':48}" + "".join(f"{refused[s]:>11}" for s in SYSTEMS))
    return "\n".join(line.rstrip() for line in lines)


def main() -> None:
    """Install the rivals, or run and report."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--install", type=Path)
    parser.add_argument("--rivals", type=Path, default=Path("rivals"))
    parser.add_argument("--out", type=Path, default=Path("frames.jsonl"))
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=SYSTEMS)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    if asked.install is not None:
        install(asked.install)
        return
    sys.stdout.write(report(run_all(asked)) + "\n")


if __name__ == "__main__":
    main()
