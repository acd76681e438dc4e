"""A strategy that fails ends its search, not the run: the best so far ships, with a warning."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

FAILING = """
from dataclasses import dataclass, replace

from automl_admm.plugin_api import (
    Book, Proposal, Selection, StrategyPlugin, draw_candidate, evaluate_starts, hookimpl
)
import numpy as np

class MyStop(BaseException):
    pass

KINDS = {"value": ValueError, "own": MyStop, "os": OSError, "exit": SystemExit}

@dataclass(frozen=True)
class Options:
    after: int = 1
    kind: str = "value"

def search(problem, solvers, options):
    book, rng = Book.of(problem), np.random.default_rng(problem.seed)
    if options.after:
        yield from evaluate_starts(problem, book)
    while len(book.keys) < options.after:
        book.receive((yield Proposal(draw_candidate(problem.space, rng), "mine")))
    if options.kind == "outside":
        drawn = draw_candidate(problem.space, rng)
        yield Proposal(replace(drawn, selection=Selection((("model", "zzz"),))), "mine")
    raise KINDS[options.kind]("no more\\nideas.")

@hookimpl
def strategies():
    yield StrategyPlugin(name="tired", summary="gives up", search=search, options=Options)
"""
SETTINGS = ("--target", "buys", "--cv=2", "--grammar", "tiny", "--executor", "inline")
FAILED = "strategy 'tired' (foreign-solver 1.0) failed: {}: no more ideas"
Run = Callable[..., Any]


@pytest.fixture
def fit(run: Run, table: Path, install: Callable[[str], None]) -> Run:
    install(FAILING)

    def call(strategy: str) -> Any:
        return run(
            *("fit", table, *SETTINGS, "--max-evaluations", "9", "--out", "out", "-q"),
            *("--strategy", strategy),
        )

    return call


def winner() -> str:
    return str(json.loads(Path("out", "model.json").read_text())["pipeline"])


@pytest.mark.parametrize(
    ("kind", "name"),
    [("value", "ValueError"), ("own", "MyStop"), ("os", "OSError"), ("exit", "SystemExit")],
)
def test_the_best_so_far_ships(fit: Run, run: Run, table: Path, kind: str, name: str) -> None:
    ended, failed = fit(f"tired:after=1,kind={kind}"), FAILED.format(name)
    assert ended.code == 0, ended.err
    assert ended.err.count(f"warning: {failed}. The search ended there") == 1
    assert f"1 success; ended by: {failed}\n" in ended.out
    content = json.loads(Path("out", "run.json").read_text())
    assert (content["state"], content["result"]["stopped_by"]) == ("done", failed)
    assert run("predict", "out", table, "-o", "out.csv").code == 0


def test_a_pipeline_outside_the_space_ends_the_search(fit: Run) -> None:
    ended = fit("tired:kind=outside")
    told = "strategy 'tired' (foreign-solver 1.0) proposed Selection(picks=(('model', 'zzz'),))"
    assert ended.code == 0, ended.err
    assert f"warning: {told}, which is no selection of the space. The search ended" in ended.err


def test_a_run_goes_on_to_the_same_failure_and_keeps_its_model(fit: Run, run: Run) -> None:
    fit("tired:after=2")
    before = winner()
    ended = run("resume", "out", "-q")
    assert ended.code == 2
    assert f"is finished ({FAILED.format('ValueError')})." in ended.err
    ended = run("resume", "out", "--max-evaluations", "+1", "-q")
    assert ended.code == 0, ended.err
    assert FAILED.format("ValueError") in ended.err
    assert winner() == before


@pytest.mark.parametrize("kind", ["value", "own"])
def test_without_any_success_the_failure_is_the_end(fit: Run, kind: str) -> None:
    ended = fit(f"tired:after=0,kind={kind}")
    name = {"value": "ValueError", "own": "MyStop"}[kind]
    told = f"error: {FAILED.format(name)}."
    assert (ended.code, ended.out, ended.err.splitlines()[-1]) == (2, "", told)
