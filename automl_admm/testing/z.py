"""The promises of a z-solver."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import ClassVar

import numpy as np

from automl_admm.core.priors import ArmPrior, Arms, takes_priors
from automl_admm.core.space import SearchSpace, Selection
from automl_admm.core.subproblems import Observation, SelectionSubproblem
from automl_admm.search.protocol import unwrap
from automl_admm.testing.fresh_process import in_another_process
from automl_admm.testing.hard_tables import HardTablePromises, check_complete
from automl_admm.testing.problems import (
    BOUND,
    BUDGET,
    TABLE,
    bound_loss,
    bound_problem,
    points_of,
    seen,
    table_loss,
    table_problem,
)
from automl_admm.testing.silence import silence

# Progress is judged by this many last proposals of a run.
LATE = 20
# 4 scalers · (3 models + 3 kernels of `line`) · 6 orders.
SELECTIONS = 144
BETTER_BY = 0.85
MOST_KNOWN = 0.25


class ZSolverContract(HardTablePromises):
    """The promises of a z-solver to the core.

    `learns` is False for a solver that never does. `rounds` is the number of proposals in the test
    of progress (of the 144 selections, a solver that repeats nothing has used up the good ones
    later on), and `seeds` the number of searches. Lower them for a slow solver.
    """

    learns: ClassVar[bool] = True
    rounds: ClassVar[int] = 40
    seeds: ClassVar[int] = 5

    def test_same_seed_same_proposals(self) -> None:
        """A run can be repeated."""
        assert self.propose(3) == self.propose(3), "one seed gave different selections"
        assert self.propose(3) != self.propose(4), "two seeds gave the same selections"

    def test_priors_help_or_are_ignored(self) -> None:
        """Pseudo-counts change no promise, nor anything unless it takes them.

        Some are of parts that the table does not have. A solver takes them if it has an attribute
        `takes_priors` that is true.
        """
        prior: Arms = {
            ("model", "line"): ArmPrior(0.9, 0.1),
            ("model", "tree"): ArmPrior(0.0, 1.0),
            ("model", "of another grammar"): ArmPrior(1.0, 0.0),
            ("nothing", "like it"): ArmPrior(1.0, 0.0),
        }
        found = []
        nothing: Arms = {}
        for given in (nothing, prior):
            solver = self.make()
            solver.begin(replace(table_problem(seed=5), prior=given))
            points: list[Selection] = []
            for _ in range(12):
                for point in points_of(solver.ask(1, [])):
                    assert TABLE.complete(dict(point.picks)) == point
                    solver.tell([seen(point)])
                    points.append(point)
            found.append(points)
        if not takes_priors(self.make()):
            assert found[0] == found[1], "it read priors, but has no attribute `takes_priors`"

    def test_same_proposals_in_another_process(self) -> None:
        """Nothing depends on hash seeds or on earlier work of the process."""
        # Through JSON as in the other process: tuples become lists.
        here = json.loads(json.dumps([list(point.picks) for point in self.propose(3)]))
        assert here == in_another_process(type(self), "[list(p.picks) for p in c.propose(3)]")

    def test_says_nothing_and_leaves_nothing(self) -> None:
        """No print, no warning in the log, no file in the working folder."""
        with silence():
            self.propose(5)

    def test_proposals_are_complete_selections(self) -> None:
        """Active decisions and no others, each with one of its alternatives."""
        for point in self.propose(0, rounds=min(BUDGET, self.rounds)):
            check_complete(point, TABLE)

    def test_orders_keep_their_precedence(self) -> None:
        """Every proposed order keeps the precedence."""
        solver = self.make()
        solver.begin(bound_problem(seed=1))
        orders = set()
        for _ in range(BUDGET // 2):
            for point in points_of(solver.ask(1, [])):
                check_complete(point, BOUND)
                solver.tell([Observation(point, bound_loss(point), bound_loss(point))])
                orders.add(point.get("steps"))
        # A solver with a fixed order would keep any precedence.
        assert len(orders - {None}) > 1

    def test_what_is_known_is_seldom_proposed(self) -> None:
        """Known selections are rare while others are left: they would teach nothing.

        The log answers them. A solver without a memory has an eighth of such proposals here, by
        chance.
        """
        runs = [self.propose(seed, self.rounds) for seed in range(self.seeds)]
        known = float(np.mean([1.0 - len(set(points)) / len(points) for points in runs]))
        assert known <= MOST_KNOWN, f"{known:.0%} of its proposals were known already"

    def test_what_is_known_elsewhere_may_be_proposed(self) -> None:
        """With other parameters a selection is another pipeline: known there, it is new here."""
        rng = np.random.default_rng(4)
        known = dict.fromkeys(TABLE.sample(rng) for _ in range(4000))
        solver, proposed = self.make(), set[Selection]()
        solver.begin(replace(table_problem(), elsewhere=tuple(map(seen, known))))
        for _ in range(12):
            asked = points_of(solver.ask(1, []))
            solver.tell([seen(point) for point in asked])
            proposed.update(asked)
        assert len(known) == SELECTIONS  # all of them
        assert len(proposed) > 8

    def test_told_nothing(self) -> None:
        """`tell([])` is harmless, before the first ask and after."""
        solver = self.make()
        solver.begin(table_problem())
        solver.tell([])
        asked = points_of(solver.ask(1, []))
        solver.tell([])
        assert len(solver.ask(1, asked)) == 1

    def test_ask_for_nothing(self) -> None:
        """`ask(0)` proposes nothing."""
        solver = self.make()
        solver.begin(table_problem())
        assert list(solver.ask(0, [])) == []

    def test_several_at_a_time_with_pending(self) -> None:
        """Several can be asked for."""
        solver = self.make()
        solver.begin(table_problem())
        points = points_of(solver.ask(3, []))
        assert len(points) == 3
        assert len(solver.ask(2, points)) == 2

    def test_seconds_instead_of_evaluations(self) -> None:
        """The budget may be a time, and nothing else."""
        solver = self.make()
        solver.begin(replace(table_problem(evaluations=None), seconds=5.0))
        assert len(solver.ask(1, [])) == 1

    def test_fidelity_where_it_is_allowed(self) -> None:
        """A solver asking for less than a whole evaluation stays within the permitted range."""
        solver = self.make()
        solver.begin(replace(table_problem(), lowest_fidelity=0.25))
        for _ in range(12):
            for point, fidelity in map(unwrap, solver.ask(1, [])):
                assert 0.25 <= fidelity <= 1.0
                solver.tell([seen(point, fidelity=fidelity)])

    def test_budget_of_one(self) -> None:
        """A single evaluation is worth a proposal."""
        solver = self.make()
        solver.begin(table_problem(evaluations=1))
        assert len(solver.ask(1, [])) == 1

    def test_no_decisions(self) -> None:
        """A table without decisions has one selection."""
        solver = self.make()
        space = SearchSpace()
        solver.begin(SelectionSubproblem(space, space.complete({})))
        assert points_of(solver.ask(1, [])) in ([], [Selection(())])

    def test_subproblem_after_subproblem(self) -> None:
        """The history of the next sub-problem may repeat observations of the last."""
        solver = self.make()
        history: list[Observation[Selection]] = []
        for iteration in range(4):
            solver.begin(table_problem(history, seed=iteration, iteration=iteration))
            for _ in range(6):
                told = [seen(point) for point in points_of(solver.ask(1, []))]
                solver.tell(told)
                history += told
        assert len(history) == 24

    def test_long_history(self) -> None:
        """Two thousand known points are no reason to break."""
        rng = np.random.default_rng(2)
        drawn = (TABLE.sample(rng) for _ in range(2000))
        # One scaler only, so that three quarters of the table stay untried.
        known = [TABLE.complete({**dict(point.picks), "scaler": "robust"}) for point in drawn]
        solver = self.make()
        solver.begin(table_problem([*map(seen, known)]))
        assert len(solver.ask(1, [])) == 1

    def test_progress(self) -> None:
        """Late proposals are clearly better than a draw."""
        if not self.learns:
            return
        runs = [self.propose(seed, self.rounds)[-LATE:] for seed in range(self.seeds)]
        late = [table_loss(point) for run in runs for point in run]
        rng = np.random.default_rng(0)
        drawn = [table_loss(TABLE.sample(rng)) for _ in range(400)]
        ratio = float(np.mean(late) / np.mean(drawn))
        assert ratio < BETTER_BY, f"late proposals lose {ratio:.2f} of what draws lose"
