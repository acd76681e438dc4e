"""Real runs for each kind of bound of two classes, of several, and of a regression.

In each run a small search with a certificate at 95 % is given a limit of every kind, on 1 200 rows
of a table; the rest of it says what is true. All limits of a run have the same room: none, some or
much, counted from the mean of three runs with other seeds and without limits. A run certifies a
limit or does not, whatever it finds of the others, so that each run says something of every kind
of bound. Where there is much room the same run is made without a certificate, too. Grammar `tiny`,
2 evaluations, 2 folds; 40 % of the rows are set aside, and how many rows a certificate would have
needed is not computed, as that takes longer than all the rest.

    python benchmarks/certified_findings.py classes --data ../shared/data --out build/classes.jsonl
    python benchmarks/certified_findings.py classes --report build/classes.jsonl
"""

from __future__ import annotations

import argparse
import json
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from certified_kinds import COSTS, NAMES, Seen, World, dumped, facts, world
from sklearn.metrics import r2_score, recall_score
from threadpoolctl import threadpool_limits

from automl_admm.certify.certificate import Certificate
from automl_admm.certify.plan import planning
from automl_admm.certify.walk import verdicts
from automl_admm.core.space import Array
from automl_admm.runs.config import RunConfig
from automl_admm.runs.pipelines import run_pipelines
from automl_admm.runs.prepare.preparation import prepare

ROWS, SALT, RUNS, PILOTS = 1200, 22, 102, (1000, 1001, 1002)
EVALUATIONS = {"two_classes": 4, "answers": 2, "classes": 2, "regression": 2, "averages": 6}
FOLDS, DRAWS = 2, 100
SET_ASIDE = 0.4
COST_TEXT = ",".join(f"{mistake}={cost:g}" for mistake, cost in COSTS.items())
MUCH = 2  # the room with a twin that has no certificate, and with an oracle
Record = dict[str, Any]


def run_all(task: str, folder: Path, out: Path, runs: int) -> None:
    """Run what is missing; the file is gone on with."""
    done = {(one["world"], one["seed"]) for one in read(out)}
    for seed in (-1, *range(runs)):
        for name in NAMES[task]:
            if (name, seed) not in done:
                here = world(folder, name)
                record = reference_of(here) if seed < 0 else _pair(here, seed, _known(out, name))
                with out.open("a", encoding="utf-8") as stream:
                    stream.write(dumped({"world": name, "seed": seed} | record))


def read(out: Path) -> list[Record]:
    """Return all records of a file."""
    lines = out.read_text(encoding="utf-8").splitlines() if out.exists() else []
    return [json.loads(line) for line in lines]


def _known(out: Path, name: str) -> Mapping[str, float]:
    return next(one["reference"] for one in read(out) if (one["world"], one["seed"]) == (name, -1))


def reference_of(here: World) -> Record:
    """Return the mean value of every kind, of runs without a limit."""
    found = [
        facts(here.kinds, seen_by(fitted(here, seed, (), None), here, seed)) for seed in PILOTS
    ]
    means = {text: float(np.mean([one[text] for one in found])) for text in found[0]}
    return {"reference": means}


def _pair(here: World, seed: int, reference: Mapping[str, float]) -> Record:
    """Return what a run with a certificate found, and the truth of it and of one without."""
    room = seed % 3
    limits = {kind.text: kind.limit(reference[kind.text], room) for kind in here.kinds}
    texts = tuple(kind.written(limits[kind.text]) for kind in here.kinds)
    record: Record = {"room": room, "limits": limits}
    if room == MUCH:
        plain = seen_by(fitted(here, seed, texts, None), here, seed)
        record |= {"plain": facts(here.kinds, plain), "plain_utility": utility(here, plain)}
    outcome = fitted(here, seed, texts, 0.95)
    mine = seen_by(outcome, here, seed)
    proof = outcome.certificate
    if proof is None:  # nothing could be tested, and so nothing is certified
        record["untested"] = outcome.refit.untested
    has_oracle = here.task in ("two_classes", "classes") and room == MUCH
    return record | {
        "findings": found_of(here, proof),
        "is_certified": outcome.is_certified,
        "model": type(inner(outcome.model)).__name__,
        "rows": 0 if proof is None else proof.rows,
        "certified": facts(here.kinds, mine),
        "certified_utility": utility(here, mine),
        "oracle": _oracle(here, mine, limits, seed) if has_oracle else None,
    }


def found_of(here: World, proof: Certificate | None) -> Record:
    """Return what was found of each kind; without a certificate none was tested."""
    if proof is None:
        untested = {"verdict": "untested", "approximate": False, "bound": None, "method": ""}
        return {kind.text: untested for kind in here.kinds}
    return {
        kind.text: {
            "verdict": str(finding.verdict),
            "approximate": finding.is_approximate,
            "bound": None if np.isnan(finding.bound) else round(finding.bound, 5),
            "method": finding.method,
        }
        for kind, finding in zip(here.kinds, proof.findings, strict=True)
    }


def rows_of(here: World, seed: int) -> tuple[Any, Any]:
    """Return the places of the rows of a run, and of the rest."""
    order = np.random.default_rng([seed, SALT]).permutation(len(here.X))
    return order[:ROWS], order[ROWS:]


def fitted(
    here: World, seed: int, limits: tuple[str, ...], certify: float | None, **more: Any
) -> Any:
    """Return the outcome of a run; `more` are other options of it."""
    mine, _ = rows_of(here, seed)
    with tempfile.TemporaryDirectory() as folder:
        config = RunConfig(
            grammar="tiny",
            task="regression" if here.task == "regression" else "classification",
            scoring="r2" if here.task == "regression" else "balanced_accuracy",
            constraints=limits,
            cost=COST_TEXT if here.task == "two_classes" else None,
            certify=certify,
            certify_fraction=SET_ASIDE if certify else None,
            max_evaluations=EVALUATIONS[here.task],
            cv=FOLDS,
            executor="inline",
            on_infeasible="closest",
            random_state=seed,
            looks=Path(folder) / "looks.json",  # each run is the first look at its rows
        )
        given = here.X.iloc[mine], here.y.iloc[mine]
        return run_pipelines(prepare(replace(config, **more), *given))


def seen_by(outcome: Any, here: World, seed: int) -> Seen:
    """Return the predictions for the rows that no run had."""
    _, fresh = rows_of(here, seed)
    X, truth = here.X.iloc[fresh], here.y.iloc[fresh].to_numpy()
    groups, model = X[here.column].to_numpy() if here.column else None, outcome.model
    if here.task == "regression":
        return Seen(np.asarray(model.predict(X)), truth, groups)
    classes = [str(one) for one in model.classes_]
    called, sure = np.asarray(model.predict(X)), model.predict_proba(X)
    if here.changes is not None:
        moves = here.changes(model, X, outcome.preparation.work.table.X)
        return Seen(called, truth, groups, sure, classes, moves=moves)
    if here.raised is None:
        return Seen(called, truth, groups, sure, classes)
    column, more = here.raised
    raised = model.predict_proba(X.assign(**{column: X[column] + more}))[:, -1]
    return Seen(called, truth, groups, sure, classes, raised, X[column].to_numpy(dtype=float))


def inner(model: Any) -> Any:
    """Return the pipeline or average inside of what decides at a threshold."""
    while hasattr(model, "estimator"):
        model = model.estimator
    return model


def utility(here: World, seen: Seen) -> float:
    """Return R², or the mean recall, or the share of all rows that are decided rightly."""
    measure: Callable[..., float] = r2_score
    if here.task == "answers":
        return round(float(np.mean(seen.predicted == seen.truth)), 5)
    if here.task != "regression":
        return round(float(recall_score(seen.truth, seen.predicted, average="macro")), 5)
    return round(float(measure(seen.truth, seen.predicted)), 5)


def _oracle(here: World, seen: Seen, limits: Mapping[str, float], seed: int) -> float | None:
    """Return the best mean recall of the same model at weights chosen with the truth at hand.

    100 drawn weights and none; those at which a limit is truly broken do not count.
    """
    rng, best, top = np.random.default_rng([seed, 1]), None, -1.0
    names = np.array(seen.classes)
    is_of = [seen.truth == name for name in names]
    drawn: Array = np.exp(rng.normal(scale=0.7, size=(DRAWS, len(names))))
    for weights in (np.ones(len(names)), *drawn):
        called = np.argmax(seen.probabilities * weights, axis=1)
        reached = float(np.mean([np.mean(called[one] == k) for k, one in enumerate(is_of)]))
        if reached > top:
            moved = replace(seen, predicted=names[called])
            kept = facts(here.kinds, moved)
            if all(kind.holds(kept[kind.text], limits[kind.text]) for kind in here.kinds):
                best, top = round(reached, 5), reached
    return best


def main() -> None:
    """Run, or make the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", choices=sorted(NAMES))
    parser.add_argument("--data", type=Path, help="the folder of the tables")
    parser.add_argument("--out", type=Path, help="the file of the records; it is gone on with")
    parser.add_argument("--runs", type=int, default=RUNS, help="of each table")
    parser.add_argument("--report", type=Path, help="make the tables of this file")
    parser.add_argument("--commit", default="", help="the commit that was measured")
    given = parser.parse_args()
    if given.report:
        from certified_findings_tables import write

        write(given.task, read(given.report), given.commit)
        return
    with quick_and_quiet():
        run_all(given.task, given.data, given.out, given.runs)


@contextmanager
def quick_and_quiet() -> Iterator[None]:
    """Use one thread and no warnings, and do not compute how many rows a certificate needs."""
    unknown: Callable[..., None] = lambda *_, **__: None  # noqa: E731
    with ExitStack() as stack:
        stack.enter_context(threadpool_limits(1))
        stack.enter_context(warnings.catch_warnings())
        for module in (planning, verdicts):
            stack.enter_context(patch.object(module, "rows_needed", unknown))
        warnings.simplefilter("ignore")
        yield


if __name__ == "__main__":
    main()
