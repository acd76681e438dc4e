"""Shared by z-solvers with algorithms as arms: the choice of arms, and a pull of one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from automl_admm.builtin.z.learner import Record, first_new, neighbour
from automl_admm.core.space import Choice, Condition, SearchSpace, Selection, draw
from automl_admm.core.subproblems import Observation

TRIES = 16
# Share of pulls that change a known selection; the others are draws.
FROM_BEST = 0.75
# A refused pull's share of a turn (see `turn`).
REFUSAL = 0.125


def choice_of_arms(space: SearchSpace) -> Choice | None:
    """Return the choice with most parameters below it; else most decisions, else alternatives.

    It is always active, so every selection is a pull of one of its arms.
    """
    roots = [d for d in space.decisions if isinstance(d, Choice) and d.when is None]
    return max(roots, key=lambda choice: _weight(space, choice), default=None)


def _weight(space: SearchSpace, root: Choice) -> tuple[int, int, int]:
    # Parents come before their children, so one pass finds everything below.
    below = {root.name}
    for decision in space.decisions:
        if _hangs_on(decision.when, below):
            below.add(decision.name)
    parameters = sum(_hangs_on(parameter.when, below) for parameter in space.parameters)
    return parameters, len(below), len(root.alternatives)


def _hangs_on(when: Condition | None, names: set[str]) -> bool:
    return when is not None and when.decision in names


def turn(observation: Observation[Selection]) -> float:
    """Return the count of an observation when arms take turns.

    A refusal costs nothing and tells nothing of an arm's quality, so it counts an eighth. It must
    count something: an arm with all selections refused would be waited for without end.
    """
    return REFUSAL if observation.refused else 1.0


def members_of(record: Record, decision: str) -> Mapping[str, Sequence[Selection]]:
    """Return the selections on record of each arm, every one once, in no order of pulls."""
    members: dict[str, list[Selection]] = {}
    for selection in record.losses:
        members.setdefault(str(selection.get(decision)), []).append(selection)
    return members


def pull(
    space: SearchSpace,
    record: Record,
    arm: tuple[str, str],
    taken: Collection[Selection],
    rng: np.random.Generator,
) -> Selection | None:
    """Take one step of a search within an arm, given as a decision and its label.

    The step is a draw, or a neighbour of the arm's best or of the best of all moved to this arm;
    None if nothing new was found.
    """
    decision, label = arm
    members = members_of(record, decision).get(label, ())
    # The best of all passes on decisions that work with other arms, too.
    bases = [record.best(), min(members, key=record.losses.__getitem__, default=None)]

    def make() -> Selection:
        picks = {d.name: draw(d, rng) for d in space.decisions}
        base = bases[int(rng.integers(2))]
        if base is not None and rng.random() < FROM_BEST:
            picks.update(neighbour(space, base, rng, fixed=decision).picks)
        return space.complete({**picks, decision: label})

    return first_new(make, taken, TRIES)


@dataclass
class Puller:
    """Pull arms, and remember those found used up at their last pull.

    Used-up arms must not count towards a round, or it would never end. Make a new puller in every
    sub-problem: its parameters make all selections new.
    """

    decision: str
    used_up: set[str] = field(default_factory=set)

    def arm(self, selection: Selection) -> str:
        """Return the arm pulled by a selection."""
        return str(selection.get(self.decision))

    def fewest(self, turns: Mapping[str, float], arms: Collection[str]) -> float:
        """Return the least number of turns among the arms not used up."""
        return min((turns.get(arm, 0.0) for arm in arms if arm not in self.used_up), default=0.0)

    def in_turn(
        self,
        arms: Sequence[str],
        turns: Mapping[str, float],
        waiting: Sequence[Selection],
    ) -> list[str]:
        """Return the arms by their turns, fewest first; a pending pull is a turn, too."""
        pending = Counter(self.arm(point) for point in waiting)
        # `sorted` is stable, so ties keep the declared order.
        return sorted(arms, key=lambda label: turns.get(label, 0.0) + pending[label])

    def first(
        self,
        space: SearchSpace,
        record: Record,
        arms: Sequence[str],
        taken: Collection[Selection],
        rng: np.random.Generator,
    ) -> Selection | None:
        """Pull the first arm with a new selection."""
        for label in arms:
            selection = pull(space, record, (self.decision, label), taken, rng)
            if selection is not None:
                # The search is random: an arm may look used up and still have a new selection.
                self.used_up.discard(label)
                return selection
            self.used_up.add(label)
        return None
