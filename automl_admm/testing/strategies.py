"""The promises of a strategy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.space import SearchSpace
from automl_admm.plugins.loading import load_plugins
from automl_admm.plugins.records import NoOptions, Solvers
from automl_admm.search.guard.checked_search import checked_search
from automl_admm.search.protocol import Proposal, Search, SearchProblem, Wait
from automl_admm.search.starts import default_start
from automl_admm.testing.problems import FURNITURE, furniture_loss
from automl_admm.testing.silence import silence

# A strategy that proposes known candidates alone is answered at once, and is left after so many.
MOST_EVENTS = 20_000


def drive(
    search: Search,
    problem: SearchProblem,
    evaluate: Callable[[str, Any], Evaluation],
    *,
    workers: int = 1,
) -> list[Evaluation]:
    """Evaluate the proposals of a search, each once, until it ends or its evaluations are spent.

    Results come in the order of the proposals, with several workers later than those.
    """
    events = checked_search("the strategy", search, problem)
    done: dict[str, Evaluation] = {one.key: one for one in problem.known}
    running: list[Evaluation] = []
    results: list[Evaluation] | None = None
    for _ in range(MOST_EVENTS):
        if len(done) - len(problem.known) >= (problem.evaluations or 0):
            break
        try:
            event = next(events) if results is None else events.send(results)
        except StopIteration:
            break
        results = []
        if isinstance(event, Proposal):
            key = problem.key(event.candidate)
            if key in done:
                results = [replace(done[key], candidate=event.candidate)]
            elif all(one.key != key for one in running):
                running.append(evaluate(key, event.candidate))
        if running and (isinstance(event, Wait) or len(running) >= workers):
            ended = running.pop(0)
            done[ended.key] = ended
            results.append(ended)
    events.close()
    return list(done.values())[len(problem.known) :]


class StrategyContract:
    """The promises of a strategy to the driver of a run.

    `budget` is the number of evaluations of a search; lower it for a slow strategy. `learns` is
    False for one that is not meant to be better than chance.
    """

    learns: ClassVar[bool] = True
    budget: ClassVar[int] = 40
    seeds: ClassVar[int] = 4

    def search(self, problem: SearchProblem, solvers: Solvers) -> Search:
        """Begin a search, as the function of a `StrategyPlugin` does with default options."""
        raise NotImplementedError

    def problem(self, space: SearchSpace, seed: int) -> SearchProblem:
        """Return the task of a search over a space."""
        return SearchProblem(
            space,
            # Candidates equal on their grids are the same to evaluate.
            key=lambda candidate: repr(space.projected(candidate)),
            starts=(default_start(space),),
            seed=seed,
            evaluations=self.budget,
        )

    def run(
        self, problem: SearchProblem, *, workers: int = 1, fails: bool = False
    ) -> list[Evaluation]:
        """Search furniture with random solvers, which are easy to be better than."""

        def evaluate(key: str, candidate: Any) -> Evaluation:
            if fails:
                return Evaluation(0, key, candidate, Status.CRASHED)
            loss = furniture_loss(FURNITURE.values(FURNITURE.projected(candidate)))
            return Evaluation(0, key, candidate, Status.SUCCESS, loss)

        plugins = load_plugins(quietly=True)
        theta = plugins.theta_solvers.get("random").factory(NoOptions())
        z = plugins.z_solvers.get("random").factory(NoOptions())
        search = self.search(problem, Solvers(theta, z))
        return drive(search, problem, evaluate, workers=workers)

    def test_the_start_is_evaluated_first(self) -> None:
        """A run has a result soon, and resumes from what it knows."""
        problem = self.problem(FURNITURE, 0)
        found = self.run(problem)
        assert found, "nothing was proposed"
        assert found[0].key == problem.key(problem.starts[0]), "it began elsewhere"

    def test_same_seed_same_proposals(self) -> None:
        """A run can be repeated."""
        one, again, other = (
            [found.key for found in self.run(self.problem(FURNITURE, seed))] for seed in (3, 3, 4)
        )
        assert one == again, "one seed gave different candidates"
        assert one != other, "two seeds gave the same candidates"

    def test_several_workers_are_kept_busy(self) -> None:
        """Results may come late; all that was asked for is evaluated, inside the space."""
        found = self.run(self.problem(FURNITURE, 5), workers=4)
        assert len(found) == self.budget, f"{len(found)} of {self.budget} evaluations were used"

    def test_failures_do_not_end_it_with_an_error(self) -> None:
        """Every evaluation may fail."""
        assert self.run(self.problem(FURNITURE, 6), fails=True), "nothing was proposed"

    def test_it_goes_on_from_known_evaluations(self) -> None:
        """A resumed run evaluates nothing twice."""
        first = self.run(self.problem(FURNITURE, 7))
        more = self.run(replace(self.problem(FURNITURE, 7), known=tuple(first)))
        assert {one.key for one in first}.isdisjoint(one.key for one in more)

    def test_says_nothing_and_leaves_nothing(self) -> None:
        """No print, no warning in the log, no file in the working folder."""
        with silence():
            self.run(self.problem(FURNITURE, 8))

    def test_finds_better_candidates_than_its_start(self) -> None:
        """On furniture, in most searches."""
        if not self.learns:
            return
        better = 0
        for seed in range(self.seeds):
            found = self.run(self.problem(FURNITURE, seed))
            better += min(one.loss for one in found) < found[0].loss
        assert better > self.seeds / 2, f"better in {better} of {self.seeds} searches"
