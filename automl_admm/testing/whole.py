"""The promises of a θ-solver given a whole space, in the strategy `joint`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, ClassVar, Literal

import numpy as np

from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.protocols import ThetaSolver
from automl_admm.core.space import SearchSpace
from automl_admm.search.joint.joint_search import joint
from automl_admm.search.protocol import Proposal, SearchProblem
from automl_admm.search.starts import default_start, draw_candidate
from automl_admm.testing.problems import FURNITURE, STOOLS, furniture_loss

# The best loss found must be below this share of that of random candidates.
BETTER_BY = 0.8
# Fewer evaluations tell nothing of progress.
ENOUGH = 32
Objective = Callable[[Mapping[str, Any]], float]


class WholeSpacePromises:
    """The promises of a θ-solver with decisions, orders and parameters at once.

    `view` is the plugin's wish for their form (`ThetaSolverPlugin.joint`). A solver that `roams`
    looks everywhere, and is better than chance; a local one is better than its start. For a slow
    solver lower `whole_budget`, the evaluations of a search, and `whole_seeds`, the number of
    searches compared with random ones. Fewer than 32 evaluations tell nothing of progress, nor of
    the end of a small space: the solver may repeat itself before it is helped.
    """

    learns: ClassVar[bool] = True
    roams: ClassVar[bool] = False
    view: ClassVar[Literal["one-hot", "conditional"]] = "one-hot"
    whole_budget: ClassVar[int] = 60
    whole_seeds: ClassVar[int] = 5

    def make(self) -> ThetaSolver:
        """Make a fresh solver."""
        raise NotImplementedError

    def search(self, space: SearchSpace, objective: Objective, seed: int) -> Iterator[Evaluation]:
        """Yield the evaluations of a joint search, one after the other, each once."""
        problem = SearchProblem(
            space,
            # Candidates equal on their grids are the same to evaluate.
            key=lambda candidate: repr(space.projected(candidate)),
            starts=(default_start(space),),
            seed=seed,
            evaluations=self.whole_budget,
        )
        events, done = joint(problem, self.make(), self.view), dict[str, Evaluation]()
        results: list[Evaluation] | None = None
        while True:
            try:
                # A fresh generator takes no value.
                event = next(events) if results is None else events.send(results)
            except StopIteration:
                return
            results = []
            if isinstance(event, Proposal):
                candidate = space.projected(event.candidate)
                key, loss = problem.key(candidate), objective(space.values(candidate))
                results = [Evaluation(0, key, candidate, Status.SUCCESS, loss)]
                if key not in done:
                    done[key] = results[0]
                    yield results[0]

    def test_a_whole_space_is_searched_again_in_the_same_way(self) -> None:
        """The same seed gives the same pipelines, another seed others."""
        count = max(self.whole_budget // 8, 3)
        one, again, other = (
            [each.candidate for each in islice(self.search(FURNITURE, furniture_loss, seed), count)]
            for seed in (3, 3, 4)
        )
        assert one == again, "one seed gave different pipelines"
        assert one != other, "two seeds gave the same pipelines"

    def test_a_small_whole_space_is_searched_to_its_end(self) -> None:
        """All candidates are evaluated; then the search ends by itself."""
        if self.whole_budget < ENOUGH:
            return
        found = self.search(STOOLS, lambda values: float(values["legs"]), 0)
        assert len({evaluation.candidate for evaluation in found}) == 6

    def test_a_whole_space_is_searched_with_success(self) -> None:
        """A learner improves on its start; one that roams is clearly better than random."""
        if not self.learns or self.whole_budget < ENOUGH:
            return
        ours, random = [], []
        for seed in range(self.whole_seeds):
            done = list(islice(self.search(FURNITURE, furniture_loss, seed), self.whole_budget))
            ours.append(min(evaluation.loss for evaluation in done))
            assert ours[-1] < done[0].loss, "nothing better than the start was found"
        if not self.roams:
            return
        for seed in range(max(self.whole_seeds, 5)):
            rng = np.random.default_rng(seed)
            drawn = [draw_candidate(FURNITURE, rng) for _ in range(self.whole_budget)]
            random.append(min(furniture_loss(FURNITURE.values(each)) for each in drawn))
        ratio = float(np.median(ours) / np.median(random))
        assert ratio < BETTER_BY, f"the best found loses {ratio:.2f} of what random ones lose"
