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
    python benchmarks/frames.py --rivals FOLDER --out frames.jsonl --behind --seeds 1 2 3 4
    python benchmarks/frames.py --out frames.jsonl --table        # nothing is run

`python benchmarks/write_tables.py` writes the page from benchmarks/frames.jsonl.

One draw of a small table decides little. With `--behind` those in which this package is not close
to the best are drawn again from more seeds, for all systems. Then the means over the new draws are
compared; the draw that chose them would count twice against us.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
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
OURS = "ours"
SYSTEMS = (OURS, "plain", *RIVALS)
Row = Mapping[str, Any]
Item = tuple[str, str]


@dataclass(frozen=True)
class Compared:
    """The scores of each system on one item, one for each seed that all of them ran.

    Where there are several the first is left out: it chose the item. A system without a score in
    one of them has none; `refused` are these.
    """

    kind: str
    name: str
    scores: Mapping[str, Sequence[float]]
    refused: frozenset[str]

    @property
    def best(self) -> float:
        """The best mean."""
        return max(map(mean, self.scores.values()), default=float("nan"))

    def gap(self, system: str) -> float | None:
        """Return how far a system is below the best; None without a score."""
        return self.best - mean(self.scores[system]) if system in self.scores else None

    def is_close(self, system: str) -> bool:
        """Return True for the best and those within 0.01 of it."""
        gap = self.gap(system)
        return gap is not None and gap <= CLOSE

    def cell(self, system: str) -> str:
        """Return the mean score of a system, with a star if it is close to the best."""
        if system in self.refused:
            return "error "
        if system not in self.scores:
            return ""
        return f"{mean(self.scores[system]):.3f}{'*' if self.is_close(system) else ' '}"


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


def measure(
    system: str, kind: str, name: str, seed: int, asked: argparse.Namespace
) -> dict[str, Any]:
    """Run a system on one item; what ends without an answer is an error."""
    command = [python_of(system, asked.rivals), str(HERE / "frames_rivals.py"), "--system", system]
    command += [f"--{kind}", name, "--seed", str(seed), "--seconds", str(asked.seconds)]
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


def read_rows(path: Path) -> list[Row]:
    """Return the lines of a file of results; the first ones had no seed, it was 0."""
    if not path.exists():
        return []
    return [{"seed": 0, **json.loads(line)} for line in path.read_text("utf-8").splitlines()]


def run_all(asked: argparse.Namespace) -> list[Row]:
    """Run what is not in the file of results yet, and return all of it."""
    rows = read_rows(asked.out)
    done = {(row["system"], row["kind"], row["name"], row["seed"]) for row in rows}
    items = [("frame", name) for name in TABLES] + [("file", name) for name in FILES]
    if asked.behind:
        items = behind(compare([row for row in rows if row["seed"] == 0]))
    if asked.only:
        items = [item for item in items if item[1] in asked.only]
    for seed in asked.seeds:
        for kind, name in items:
            for system in asked.systems:
                if (system, kind, name, seed) in done:
                    continue
                found = measure(system, kind, name, seed, asked)
                rows.append({"system": system, "kind": kind, "name": name, "seed": seed, **found})
                with asked.out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(rows[-1]) + "\n")
    return rows


def compare(rows: Sequence[Row]) -> list[Compared]:
    """Return the items in their order, each with the seeds that all its systems ran."""
    by_item: dict[Item, dict[str, dict[int, Row]]] = {}
    for row in rows:
        systems = by_item.setdefault((row["kind"], row["name"]), {})
        systems.setdefault(row["system"], {})[row["seed"]] = row
    return [_compared(item, systems) for item, systems in by_item.items()]


def _compared(item: Item, systems: Mapping[str, Mapping[int, Row]]) -> Compared:
    shared = sorted(set.intersection(*(set(found) for found in systems.values())))
    seeds = shared[1:] or shared
    lines = {system: [found[seed] for seed in seeds] for system, found in systems.items()}
    refused = {system for system, own in lines.items() if any("score" not in row for row in own)}
    scores = {s: [row["score"] for row in own] for s, own in lines.items() if s not in refused}
    return Compared(*item, {s: own for s, own in scores.items() if own}, frozenset(refused))


def behind(found: Sequence[Compared]) -> list[Item]:
    """Return the items in which this package is not close to the best."""
    return [(one.kind, one.name) for one in found if not one.is_close(OURS)]


def report(rows: Sequence[Row]) -> str:
    """Return the table, how often each system is close to the best, and where ours is not."""
    found = compare(rows)
    lines = [f"{'':48}" + "".join(f"{system:>11}" for system in SYSTEMS)]
    for one in found:
        draws = max(map(len, one.scores.values()), default=1)
        name = f"{one.kind}: {one.name}" + (f" ({draws} draws)" if draws > 1 else "")
        lines.append(f"{name:48}" + "".join(f"{one.cell(system):>11}" for system in SYSTEMS))
    close = [f"{sum(one.is_close(s) for one in found):>10} " for s in SYSTEMS]
    refused = [f"{sum(s in one.refused for one in found):>10} " for s in SYSTEMS]
    lines.append(f"{f'best or within {CLOSE:g} of it (*)':48}" + "".join(close))
    lines.append(f"{'error or refused':48}" + "".join(refused))
    lines += ["", *_versions(rows), "", *_shortfalls(found)]
    return "\n".join(line.rstrip() for line in lines)


def _versions(rows: Sequence[Row]) -> list[str]:
    """Return a line for each system: its versions, and how many of its lines are of each."""
    lines = []
    for system in SYSTEMS:
        known = [row.get("version", "unknown") for row in rows if row["system"] == system]
        counts = [f"{one} ({known.count(one)} runs)" for one in dict.fromkeys(known)]
        lines.append(f"{system:12}{', '.join(counts)}")
    return lines


def _shortfalls(found: Sequence[Compared]) -> list[str]:
    """Return a line for each item in which this package is not close to the best."""
    short = [one for one in found if not one.is_close(OURS)]
    close = len(found) - len(short)
    lines = [f"ours is best or within {CLOSE:g} of it on {close} of {len(found)}"]
    return lines + [f"  {one.kind}: {one.name}: {_shortfall(one)}" for one in short]


def _shortfall(one: Compared) -> str:
    gap = one.gap(OURS)
    if gap is None:
        return "no score"
    best = max(one.scores, key=lambda system: mean(one.scores[system]))
    said = f"{gap:.3f} below {best}"
    pairs = list(zip(one.scores[best], one.scores[OURS], strict=True))
    if len(pairs) < 2:
        return f"{said}, one draw"
    error = stdev(a - b for a, b in pairs) / len(pairs) ** 0.5
    return f"{said}, mean of {len(pairs)} draws, standard error {error:.3f}"


def main() -> None:
    """Install the rivals, or run and report."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--install", type=Path)
    parser.add_argument("--rivals", type=Path, default=Path("rivals"))
    parser.add_argument("--out", type=Path, default=Path("frames.jsonl"))
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=SYSTEMS)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--only", nargs="+", metavar="NAME")
    parser.add_argument("--behind", action="store_true", help="run where ours is not close")
    parser.add_argument("--table", action="store_true", help="run nothing, report")
    asked = parser.parse_args()
    if asked.install is not None:
        install(asked.install)
        return
    rows = read_rows(asked.out) if asked.table else run_all(asked)
    sys.stdout.write(report(rows) + "\n")


if __name__ == "__main__":
    main()
