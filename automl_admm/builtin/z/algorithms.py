"""What z-solvers share whose arms are algorithms: which choice that is, and a pull of an arm."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from automl_admm.builtin.z.learner import Record, first_new, neighbour
from automl_admm.core.problem import Observation
from automl_admm.core.space import Choice, Condition, SearchSpace, Selection, draw

TRIES = 16
FROM_BEST = 0.75
REFUSAL = 0.125


def choice_of_arms(space: SearchSpace) -> Choice | None:
    """The choice with most parameters hanging on it; else most decisions, else alternatives.

    It is one that is always active, so that every selection is a pull of one of its arms.
    """
    roots = [d for d in space.decisions if isinstance(d, Choice) and d.when is None]
    return max(roots, key=lambda choice: _weight(space, choice), default=None)


def _weight(space: SearchSpace, root: Choice) -> tuple[int, int, int]:
    below = {root.name}
    for decision in space.decisions:
        if _hangs_on(decision.when, below):
            below.add(decision.name)
    parameters = sum(_hangs_on(parameter.when, below) for parameter in space.parameters)
    return parameters, len(below), len(root.alternatives)


def _hangs_on(when: Condition | None, names: set[str]) -> bool:
    return when is not None and when.decision in names


def turn(observation: Observation[Selection]) -> float:
    """What an observation counts when arms take turns.

    A refusal costs nothing and tells nothing of how good an arm is. But one of which everything is
    refused must not be waited for without end: so it counts an eighth.
    """
    return REFUSAL if observation.refused else 1.0


def members_of(record: Record, decision: str) -> Mapping[str, Sequence[Selection]]:
    """What is on record of each arm of a choice: every selection once, in no order of pulls."""
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
    """One step of a search within an arm, which is a decision and its label.

    It is a draw, or a neighbour of the arm's best or of the best of all with this arm put in; None
    where nothing new was found.
    """
    decision, label = arm
    members = members_of(record, decision).get(label, ())
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
    """Pulls arms, and knows those whose selections were used up when they were last pulled.

    These must not count towards a round, or it would never end. It is made anew in every
    sub-problem, whose parameters make all selections new.
    """

    decision: str
    used_up: set[str] = field(default_factory=set)

    def arm(self, selection: Selection) -> str:
        """The arm that a selection is a pull of."""
        return str(selection.get(self.decision))

    def fewest(self, turns: Mapping[str, float], arms: Collection[str]) -> float:
        """The turns of that arm, of those which can be pulled, which has had fewest."""
        return min((turns.get(arm, 0.0) for arm in arms if arm not in self.used_up), default=0.0)

    def in_turn(
        self,
        arms: Sequence[str],
        turns: Mapping[str, float],
        waiting: Sequence[Selection],
    ) -> list[str]:
        """The arms, that first which has had fewest turns; what is pending is one, too."""
        pending = Counter(self.arm(point) for point in waiting)
        return sorted(arms, key=lambda label: turns.get(label, 0.0) + pending[label])

    def first(
        self,
        space: SearchSpace,
        record: Record,
        arms: Sequence[str],
        taken: Collection[Selection],
        rng: np.random.Generator,
    ) -> Selection | None:
        """A pull of the first arm that has anything new."""
        for label in arms:
            selection = pull(space, record, (self.decision, label), taken, rng)
            if selection is not None:
                self.used_up.discard(label)
                return selection
            self.used_up.add(label)
        return None
