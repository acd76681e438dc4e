"""The same searches within a limit, with the portfolio and without, on sets that it never saw.

Both have the same rows, splits, seeds and limits, and as many evaluations, one worker, in this
process. The best validation loss of a pipeline within the limit is read after so many evaluations.
Lines go to a file, and a run that is there is not made again.

    python benchmarks/portfolio_within.py FOLDER… --results within.jsonl --write FILE.json
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from paired import compare, corrected
from portfolio.compare import prepare_on
from threadpoolctl import threadpool_limits

from automl_admm.core.evaluations import Evaluation, is_feasible
from automl_admm.core.limits import Limit
from automl_admm.runs.pipelines import run_pipelines

AFTER = (4, 8, 16, 32, 48)
# A set and its limit. The rule for pipelines outside was chosen on others.
SETTINGS = (
    ("mlc_churn", "latency_us <= 50"),
    ("wine", "size_mb <= 0.1"),
    ("credit_data", "fpr <= 0.05"),
    ("sylvine", "latency_us <= 10"),
    ("hpc_data", "size_mb <= 1"),
    ("mlc_churn", "fpr <= 0.02"),
    ("wind", "latency_us <= 50"),
    ("splice", "size_mb <= 0.1"),
    ("pc4", "fpr <= 0.05"),
    ("leaf_id_flavia", "latency_us <= 50"),
    ("diamonds", "size_mb <= 0.1"),
    ("german_credit", "auc_gap[personal_status] <= 0.05"),
)


@dataclass
class Watch:
    """Notes the best loss within the limits after each evaluation; infinite while there is none."""

    limits: tuple[Limit, ...] = ()
    losses: list[float] = field(default_factory=list)
    within: int = 0

    def evaluation_finished(self, evaluation: Evaluation) -> None:
        """Note an evaluation."""
        best = self.losses[-1] if self.losses else math.inf
        if evaluation.is_ranked and is_feasible(evaluation, self.limits):
            best, self.within = min(best, evaluation.loss), self.within + 1
        self.losses.append(best)


@dataclass(frozen=True)
class Searched:
    """One search within a limit: its losses, its score on held-out rows, the limited value there.

    `within` counts the evaluations within the limit.
    """

    data: str
    limit: str
    seed: int
    portfolio: bool
    losses: list[float]
    within: int
    held_out: float
    limited: float

    @property
    def key(self) -> tuple[str, str, int, bool]:
        """What tells it from all other searches."""
        return self.data, self.limit, self.seed, self.portfolio

    def after(self, count: int) -> float:
        """The best loss within the limit after so many evaluations."""
        return self.losses[min(count, len(self.losses)) - 1]


def search(path: Path, limit: str, seed: int, *, portfolio: bool) -> Searched:
    """Search once, with the portfolio or without."""
    watch = Watch()
    settings: dict[str, Any] = {"max_evaluations": AFTER[-1], "portfolio": portfolio}
    if limit.startswith("fpr"):
        settings["scoring"] = "balanced_accuracy"
    prepared = prepare_on(path, seed, callbacks=(watch,), constraints=(limit,), cv=None, **settings)
    watch.limits = prepared.limits
    found = run_pipelines(prepared).refit.measured
    score = math.nan if found.held_out_score is None else found.held_out_score
    limited = next(iter(found.held_out_constraints), math.nan)
    return Searched(path.stem, limit, seed, portfolio, watch.losses, watch.within, score, limited)


def pairs_of(found: Sequence[Searched]) -> list[tuple[Searched, Searched]]:
    """Return the searches without and with the portfolio that are alike in all else."""
    known = {one.key: one for one in found}
    return [
        (known[*key[:-1], False], one)
        for key, one in known.items()
        if one.portfolio and (*key[:-1], False) in known
    ]


def rows_of(pairs: Sequence[tuple[Searched, Searched]]) -> Iterator[list[str]]:
    """Yield after each count the pairs won, lost and level, p by Holm, and the ratio of losses.

    The ratio is a geometric mean over pairs that both have a pipeline within the limit by then.
    """
    read = {
        f"after {count} evaluations": [(old.after(count), new.after(count)) for old, new in pairs]
        for count in AFTER
    }
    read["score on held-out rows"] = [(-old.held_out, -new.held_out) for old, new in pairs]
    found = {
        name: compare([new for _, new in losses], [old for old, _ in losses])
        for name, losses in read.items()
    }
    told = corrected({name: paired.p for name, paired in found.items()})
    for name, paired in found.items():
        ratios = [new / old for old, new in read[name] if 0 < old < math.inf and new < math.inf]
        mean = f"{math.exp(float(np.mean(np.log(ratios)))):.3f}" if ratios else "–"
        shown = f"{paired.wins}/{paired.losses}/{paired.ties}"
        yield [name, shown, f"{told[name]:.3f}", mean if name.startswith("after") else "–"]


def tables_of(found: Sequence[Searched], commit: str) -> dict[str, Any]:
    """Return the table of the counts and that of the settings."""
    pairs = sorted(pairs_of(found), key=lambda pair: pair[0].key)
    title = f"with the portfolio, within a limit, {len(pairs)} runs"
    summed = {
        "commit": commit,
        "title": title,
        "columns": [
            "with the portfolio",
            "wins/losses/ties",
            "p (signs, Holm)",
            "mean of the ratio",
        ],
        "rows": list(rows_of(pairs)),
    }
    columns = ["set and limit", "seed", "portfolio", *map(str, AFTER), "within", "held out"]
    each = {
        "commit": commit,
        "title": "best loss within the limit after so many evaluations",
        "columns": [*columns, "limited there"],
        "rows": [_line(one) for pair in pairs for one in pair],
    }
    return {"within": summed, "within-each": each}


def _line(one: Searched) -> list[str]:
    losses = (one.after(count) for count in AFTER)
    shown = (f"{loss:.4f}" if math.isfinite(loss) else "–" for loss in losses)
    name, has = f"{one.data}, {one.limit}", "yes" if one.portfolio else "no"
    rest = (str(one.within), f"{one.held_out:.4f}", f"{one.limited:.3g}")
    return [name, str(one.seed), has, *shown, *rest]


def main() -> None:
    """Search what is not there yet, and report it all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--results", type=Path, default=Path("within.jsonl"))
    parser.add_argument("--commit", default="unknown", help="of the code, for the tables")
    parser.add_argument("--write", type=Path, help="a JSON file for the tables")
    given = parser.parse_args()
    lines = given.results.read_text("utf-8").splitlines() if given.results.exists() else []
    found = [Searched(**json.loads(line)) for line in lines]
    known = {one.key for one in found}
    paths = {path.stem: path for folder in given.folders for path in folder.glob("*.csv")}
    jobs = ((*one, seed, has) for seed in range(given.seeds) for one in SETTINGS for has in (0, 1))
    with threadpool_limits(limits=1):
        for data, limit, seed, has in jobs:
            if (data, limit, seed, bool(has)) in known:
                continue
            found.append(search(paths[data], limit, seed, portfolio=bool(has)))
            with given.results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(found[-1])) + "\n")
    tables = tables_of(found, given.commit)
    for table in tables.values():
        for row in (table["columns"], *table["rows"]):
            sys.stdout.write(" | ".join(row) + "\n")
    if given.write:
        text = json.dumps({"tables": tables}, ensure_ascii=False, indent=1)
        given.write.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
