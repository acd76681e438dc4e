"""What the benchmark of rising bandits runs: pipelines on one split, searches, bandits over them.

Of the bandits each arm is an algorithm that is searched by a θ-solver of its own, and a pull is
one evaluation of that search; what the bandit is told is its loss. A joint method has one solver
for the whole conditional space.
"""

from __future__ import annotations

import itertools
import json
import signal
import tempfile
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.space import Candidate, Choice, Condition, Parameter, SearchSpace
from automl_admm.core.subproblems import Observation, SelectionSubproblem
from automl_admm.pipelines.work import PipelineWork
from automl_admm.plugins.loading import Plugins, load_plugins
from automl_admm.plugins.records import ComponentPlugin
from automl_admm.plugins.specs import hookimpl
from automl_admm.runs.config import RunConfig
from automl_admm.runs.prepare.assembly import build_solver
from automl_admm.runs.prepare.preparation import prepare
from automl_admm.search.joint.joint_search import joint
from automl_admm.search.protocol import Proposal, Search, SearchProblem, derive_seed
from automl_admm.search.starts import default_start

ALGORITHMS = (
    "ada_boost",
    "decision_tree",
    "extra_trees",
    "gaussian_nb",
    "gaussian_process",
    "gradient_boosting",
    "hist_gradient_boosting",
    "k_neighbors",
    "lda",
    "linear_svm",
    "logistic_regression",
    "mlp",
    "qda",
    "random_forest",
    "sgd",
    "svm",
)
EQUAL = "equal shares"


class Lda:
    """The sixteenth algorithm, as a plugin: linear discriminant analysis."""

    @hookimpl
    def components(self) -> Iterable[ComponentPlugin]:
        """Yield it."""
        yield ComponentPlugin(
            name="lda",
            summary="one normal distribution for all classes",
            role="estimator",
            factory=build_lda,
            parameters=(Parameter("shrinkage", 1e-4, 1.0, log=True, default=0.01),),
            tasks=("classification",),
        )


def build_lda(values: Any, context: Any) -> Any:
    """Make linear discriminant analysis."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    del context
    return LinearDiscriminantAnalysis(solver="lsqr", **values)


class TooSlowError(Exception):
    """An evaluation took longer than it may."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Break off after so many seconds of processor time, whatever else the machine does."""

    def stop(*_: Any) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


@dataclass
class Evaluator:
    """Fits pipelines on one split; what was fitted once is read from a file."""

    work: PipelineWork
    file: Path
    seconds: float
    known: dict[str, dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        lines = self.file.read_text().splitlines() if self.file.exists() else []
        self.known = {record["text"]: record for record in map(json.loads, lines)}

    def __call__(self, candidate: Candidate) -> Evaluation:
        """The evaluation of a candidate; one that fails or takes too long has no loss."""
        text = self.work.space.text(candidate)
        if text not in self.known:
            self.known[text] = self._measure(text, candidate)
            with self.file.open("a") as file:
                file.write(json.dumps(self.known[text]) + "\n")
        record = self.known[text]
        status = Status.ERROR if record["loss"] is None else Status.SUCCESS
        loss = np.nan if record["loss"] is None else record["loss"]
        key = self.work.space.key(candidate)
        return Evaluation(0, key, candidate, status, loss, (), record["seconds"])

    def test_accuracy(self, candidate: Candidate) -> float:
        """The accuracy on the rows set aside, of the pipeline fitted on all others."""
        with tempfile.TemporaryDirectory() as folder:
            found = self.work.refit(candidate, 0, Path(folder))
        return np.nan if found.held_out_score is None else found.held_out_score

    def _measure(self, text: str, candidate: Candidate) -> dict[str, Any]:
        begun, loss, problem = time.process_time(), None, ""
        try:
            with tempfile.TemporaryDirectory() as folder, time_limit(self.seconds):
                loss = self.work.evaluate(candidate, 0, Path(folder)).loss
        except Exception as error:  # noqa: BLE001 - whatever a pipeline raises, it has failed
            problem = f"{type(error).__name__}: {error}"[:200]
        return {
            "text": text,
            "loss": loss,
            "seconds": time.process_time() - begun,
            "problem": problem,
        }


class Searching:
    """A search that is advanced by one evaluation at a time."""

    def __init__(self, search: Search, evaluate: Callable[[Candidate], Evaluation]) -> None:
        self._search = search
        self._evaluate = evaluate
        self._seen: set[str] = set()
        self._results: Sequence[Evaluation] | None = None

    def step(self) -> Evaluation | None:
        """The next evaluation that is new to this search; None when there is none left."""
        try:
            while True:
                event = self._advance()
                self._results = ()
                if not isinstance(event, Proposal):
                    continue
                evaluation = self._evaluate(event.candidate)
                self._results = [evaluation]
                if evaluation.key not in self._seen:
                    self._seen.add(evaluation.key)
                    return evaluation
        except StopIteration:
            return None

    def _advance(self) -> Any:
        return next(self._search) if self._results is None else self._search.send(self._results)


def main_choice(space: SearchSpace) -> Choice:
    """The decision whose alternatives are the algorithms."""
    found = [d for d in space.decisions if isinstance(d, Choice) and set(d.alternatives) >= {"svm"}]
    return found[0]


def restricted(space: SearchSpace, choice: Choice, label: str) -> SearchSpace:
    """The part of a space in which one choice takes one alternative."""
    decisions: list[Any] = []
    kept = {choice.name: replace(choice, alternatives=(label,), values=())}
    for decision in space.decisions:
        found = kept.get(decision.name) or within(decision, kept)
        if found is not None:
            kept[decision.name] = found
            decisions.append(found)
    parameters = (within(parameter, kept) for parameter in space.parameters)
    return SearchSpace(tuple(decisions), tuple(p for p in parameters if p is not None))


def within(item: Any, kept: dict[str, Any]) -> Any:
    """A decision or parameter if it can still become active, its condition cut to size."""
    if item.when is None:
        return item
    parent = kept.get(item.when.decision)
    offered = () if parent is None else parent.alternatives
    left = tuple(label for label in item.when.alternatives if label in offered)
    return replace(item, when=Condition(item.when.decision, left)) if left else None


@dataclass
class Setting:
    """One data set, one split, one seed of the solvers."""

    evaluator: Evaluator
    plugins: Plugins
    seed: int
    budget: int

    @property
    def space(self) -> SearchSpace:
        """The whole space."""
        return self.evaluator.work.space.space

    def search(self, solver: str, space: SearchSpace, name: str) -> Searching:
        """A search over a space by one solver, which sees it as the solver wants to."""
        record = self.plugins.theta_solvers.get(solver.partition(":")[0])
        problem = SearchProblem(
            space,
            self.evaluator.work.space.key,
            (default_start(space),),
            seed=derive_seed(self.seed, name),
            evaluations=self.budget,
        )
        built = build_solver(self.plugins.theta_solvers, solver)
        return Searching(joint(problem, built, record.joint), self.evaluator)


@dataclass
class Trace:
    """One run: the algorithm and the loss of every evaluation, and the best one's test accuracy."""

    algorithms: list[str] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    test: float = np.nan
    solver_seconds: float = 0.0

    def best(self) -> np.ndarray[Any, Any]:
        """The best loss after each evaluation."""
        return np.minimum.accumulate(np.nan_to_num(self.losses, nan=1.0))

    def reached(self, target: float) -> float:
        """How many evaluations it took to be at least as good."""
        found = np.flatnonzero(self.best() <= target + 1e-12)
        return float(found[0]) + 1.0 if found.size else np.inf


def run_joint(setting: Setting, solver: str, goal: float) -> list[Evaluation]:
    """One solver on the whole space, until it has a loss as small as the goal."""
    search = setting.search(solver, setting.space, "joint")
    found: list[Evaluation] = []
    for _ in range(setting.budget):
        evaluation = search.step()
        if evaluation is None:
            break
        found.append(evaluation)
        if _loss(evaluation) <= goal:
            break
    return found


def run_arms(setting: Setting, per_arm: str, choose: Callable[..., Any]) -> list[Evaluation]:
    """A search for each algorithm; `choose` is a generator that names one and is told the loss.

    An algorithm whose parameters are used up repeats its best.
    """
    choice = main_choice(setting.space)
    arms = {
        label: setting.search(per_arm, restricted(setting.space, choice, label), label)
        for label in choice.alternatives
    }
    best: dict[str, Evaluation] = {}
    done: list[Evaluation] = []
    chooser = choose(setting, choice)
    label = next(chooser)
    while len(done) < setting.budget:
        evaluation = arms[label].step() or best[label]
        if label not in best or _loss(evaluation) < _loss(best[label]):
            best[label] = evaluation
        done.append(evaluation)
        label = chooser.send(evaluation)
    return done


def _loss(evaluation: Evaluation) -> float:
    return evaluation.loss if evaluation.ok else np.inf


def in_turn(setting: Setting, choice: Choice) -> Generator[str, Evaluation, None]:
    """Equal shares."""
    del setting
    for turn in itertools.count():
        yield choice.alternatives[turn % len(choice.alternatives)]


def bandit(setting: Setting, choice: Choice, solver: str) -> Generator[str, Evaluation, None]:
    """A z-solver over a table of the algorithms.

    A second choice has no meaning: with it every pull is a selection of its own, as in a pipeline
    whose other parts are searched as well.
    """
    labels = tuple(str(number) for number in range(2 * setting.budget))
    parameters = (
        Parameter(f"{label}.any", 0, 1, when=Condition("algorithm", (label,)))
        for label in choice.alternatives
    )
    decisions = (Choice("algorithm", choice.alternatives), Choice("pull", labels))
    table = SearchSpace(decisions, tuple(parameters))
    built = build_solver(setting.plugins.z_solvers, solver)
    start, seed = table.complete({}), derive_seed(setting.seed, solver)
    built.begin(SelectionSubproblem(table, start, evaluations=setting.budget, seed=seed))
    worst = 1.0
    while True:
        (selection,) = built.ask(1, [])
        told = yield str(selection.get("algorithm"))
        loss = told.loss if told.ok else worst
        built.tell([Observation(selection, loss, told.loss, (), told.seconds, failed=not told.ok)])


def run(setting: Setting, method: str, per_arm: str, goal: float = -np.inf) -> Trace:
    """One method on one setting; a joint one ends at the goal."""
    begun = time.process_time()
    kind, _, solver = method.partition(" ")
    if kind == "joint":
        found = run_joint(setting, solver, goal)
    else:
        choose = in_turn if method == EQUAL else partial(bandit, solver=method)
        found = run_arms(setting, per_arm, choose)
    spent = time.process_time() - begun
    name = main_choice(setting.space).name
    best = min(found, key=_loss)
    return Trace(
        [str(evaluation.candidate.selection.get(name)) for evaluation in found],
        [evaluation.loss for evaluation in found],
        setting.evaluator.test_accuracy(best.candidate),
        spent,
    )


def make_setting(data: Path, cache: Path, seed: int, budget: int, limit: float) -> Setting:
    """Read the rows, split them, and compile the grammar."""
    facts = json.loads(data.with_suffix(".json").read_text())
    frame = pd.read_csv(data, dtype={facts["target"]: str})
    X, y = frame.drop(columns=facts["target"]), frame[facts["target"]]
    extra = {"lda": Lda()}
    with tempfile.TemporaryDirectory() as folder:
        grammar = Path(folder) / "sixteen.lark"
        names = ", ".join(ALGORITHMS)
        choices = " | ".join(ALGORITHMS)
        grammar.write_text(
            f"%import components ({names})\n\nstart: estimator\n\nestimator: {choices}\n"
        )
        config = RunConfig(
            grammar=grammar,
            task="classification",
            scoring="accuracy",
            max_evaluations=budget,
            cv=0.2,
            test_size=0.2,
            random_state=seed,
            extra_plugins=extra,
        )
        work = prepare(config, X, y).work
    work.prepare()
    cache.mkdir(parents=True, exist_ok=True)
    file = cache / f"evaluations-{data.stem}-{seed}.jsonl"
    evaluator = Evaluator(work, file, limit)
    return Setting(evaluator, load_plugins(extra), seed, budget)
