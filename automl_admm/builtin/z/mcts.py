"""The z-solver `mcts`: Monte Carlo tree search, one decision (or item of an order) a level."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from automl_admm.builtin.z.arms import Arm, Scale, arms_of
from automl_admm.builtin.z.learner import Learner
from automl_admm.builtin.z.lessons import Lessons
from automl_admm.core.space import Choice, Decision, Pick, SearchSpace, Selection, is_active
from automl_admm.core.subproblems import Observation, SelectionSubproblem

Path = tuple[str, ...]
TRIES = 24
# The exponent of progressive widening: ⌈v^½⌉ children open after v visits.
WIDENING = 0.5
# The chance that a decision below the tree copies the best selection.
BIAS = 0.5
# A loss this many times the rest of a sum has cost it six digits.
DWARFING = 1e6


@dataclass(slots=True)
class Tally:
    """The losses of all selections below a node, or of all playing an arm."""

    visits: int = 0
    successes: int = 0
    total: float = 0.0

    def add(self, loss: float) -> None:
        """Enter one loss, infinite for a failure."""
        self.visits += 1
        if math.isfinite(loss):
            self.successes += 1
            self.total += loss

    def take_out(self, loss: float) -> None:
        """Take back an entered loss."""
        self.visits -= 1
        if math.isfinite(loss):
            self.successes -= 1
            self.total -= loss

    @property
    def mean(self) -> float:
        """Mean loss of the successes."""
        return self.total / self.successes if self.successes else math.inf


@dataclass
class Tree:
    """A tally for each first part of a selection, and for each arm in any place."""

    nodes: dict[Path, Tally] = field(default_factory=dict)
    arms: dict[Arm, Tally] = field(default_factory=dict)

    def add(self, selection: Selection, loss: float) -> None:
        """Enter a selection at all nodes on its path and at all its arms."""
        for path in paths_of(selection):
            self.nodes.setdefault(path, Tally()).add(loss)
        for arm in arms_of(selection):
            self.arms.setdefault(arm, Tally()).add(loss)

    def take_out(self, selection: Selection, loss: float) -> None:
        """Take back a selection entered with this loss."""
        for path in paths_of(selection):
            self.nodes[path].take_out(loss)
        for arm in arms_of(selection):
            self.arms[arm].take_out(loss)

    def has_lost_digits(self, taken: Iterable[float]) -> bool:
        """Return True if a removed loss was so large that rounding spoils the remaining sum."""
        left = abs(self.nodes[()].total) if self.nodes else 0.0
        finite = [abs(loss) for loss in taken if math.isfinite(loss)]
        return not math.isfinite(left) or max(finite, default=-1.0) >= DWARFING * left


class TreeSearch(Learner):
    """UCT with progressive widening over the decisions in the order of the space.

    A node of v visits has ⌈v^½⌉ children open, first those with the best label anywhere in the
    tree. Below the last visited node, every decision is as in the best known selection or drawn,
    half and half. Priors order the labels that were never tried, and guide the draws.
    """

    def __init__(self, exploration: float, trust: float = 0.0) -> None:
        super().__init__()
        self._exploration = exploration
        self._trust = trust
        self.takes_priors = trust > 0.0
        self._lessons = Lessons.of(SearchSpace(), {}, trust)
        self._tree = Tree()
        self._virtual: Counter[Path] = Counter()
        self._scale = Scale(0.0, 0.0)
        self._guide: dict[str, Pick] = {}

    def begin(self, subproblem: SelectionSubproblem) -> None:
        """Start on a table of decisions, with a tree of all observations at today's prices."""
        super().begin(subproblem)
        prior = subproblem.prior if self.takes_priors else {}
        self._lessons = Lessons.of(subproblem.space, prior, self._trust)
        self._grow()

    def tell(self, observations: Sequence[Observation[Selection]]) -> None:
        """Enter observations in the tree; count one known already only once."""
        told = dict.fromkeys(observation.point for observation in observations)
        known = {
            point: self._record.losses[point] for point in told if point in self._record.losses
        }
        super().tell(observations)
        # The tree holds these at their old price.
        for selection, loss in known.items():
            self._tree.take_out(selection, loss)
        if self._tree.has_lost_digits(known.values()):
            self._grow()
            return
        for selection in told:
            self._tree.add(selection, self._record.losses[selection])

    def _grow(self) -> None:
        """Build the tree from the record; this removes rounding errors of take-backs."""
        self._tree = Tree()
        for selection, loss in self._record.losses.items():
            self._tree.add(selection, loss)

    def _propose(
        self, waiting: Sequence[Selection], taken: Collection[Selection]
    ) -> Selection | None:
        # Rewards change as better losses come in, so bounds use the scale of this ask.
        self._scale = Scale.of(list(self._record.succeeded().values()))
        best = self._record.best()
        self._guide = dict(best.picks) if best is not None else {}
        self._virtual = Counter(path for selection in waiting for path in paths_of(selection))
        for _ in range(TRIES):
            selection = self._descend()
            if selection not in taken:
                return selection
            self._virtual.update(paths_of(selection))
        return None

    def _descend(self) -> Selection:
        """Walk once from the root to a complete selection."""
        path: Path = ()
        picks: dict[str, Pick] = {}
        for decision in self._space.decisions:
            if not is_active(decision.when, picks):
                continue
            labels = self._decide(decision, path, self._guide.get(decision.name))
            picks[decision.name] = labels[0] if isinstance(decision, Choice) else labels
            path += labels if isinstance(decision, Choice) else labels[:-1]
        return self._space.complete(picks)

    def _decide(self, decision: Decision, path: Path, guide: Pick | None) -> Path:
        """Return the label of a choice, or the items of an order from first to last."""
        if isinstance(decision, Choice):
            return (self._step(decision.name, path, decision.alternatives, 0, guide),)
        laid: Path = ()
        for place in range(len(decision.items)):
            wish = guide[place] if guide is not None else None
            # Only items allowed next by the precedence.
            labels = decision.ready(laid)
            laid += (self._step(decision.name, path + laid, labels, place, wish),)
        return laid

    def _step(
        self, name: str, path: Path, labels: Sequence[str], place: int, guide: Pick | None
    ) -> str:
        """Open a child, go to the child with the largest bound, or (below the tree) play out."""
        # Pending evaluations count as visits, so that workers spread over the tree.
        visits = self._visits(path)
        if not visits:
            follows = guide in labels and self._rng.random() < BIAS
            return str(guide) if follows else self._drawn(name, labels)
        children = [label for label in labels if self._visits((*path, label))]
        if len(children) < min(len(labels), math.ceil(visits**WIDENING)):
            # Progressive widening: open a new child before going deeper.
            unopened = [label for label in labels if label not in children]
            return max(unopened, key=lambda label: self._promise((name, label, place)))
        return max(children, key=lambda label: self._bound((*path, label), visits))

    def _visits(self, path: Path) -> int:
        node = self._tree.nodes.get(path)
        return self._virtual[path] + (node.visits if node is not None else 0)

    def _promise(self, arm: Arm) -> tuple[float, float]:
        """Return a label's success elsewhere; one never tried comes first, ties at random."""
        tally = self._tree.arms.get(arm)
        if tally is None:
            return math.inf, self._lessons.omega(arm[0], arm[1], self._rng)
        return -tally.mean, float(self._rng.random())

    def _drawn(self, name: str, labels: Sequence[str]) -> str:
        if not self._lessons.arms:
            return labels[int(self._rng.integers(len(labels)))]
        return max(labels, key=lambda label: self._lessons.omega(name, label, self._rng))

    def _bound(self, path: Path, visits: int) -> float:
        """Return UCT: r̄ + c √(ln V / v); v counts pending visits, too, without reward."""
        own = self._visits(path)
        node = self._tree.nodes.get(path)
        # A failure is a visit that earned nothing.
        earned = node.successes * self._scale.reward(node.mean) if node is not None else 0.0
        return earned / own + self._exploration * math.sqrt(math.log(visits) / own)


def paths_of(selection: Selection) -> Iterator[Path]:
    """Yield the nodes on the way to a selection, root and leaf included.

    The last item of an order is no level of its own: there is no other left.
    """
    path: Path = ()
    yield path
    for _, pick in selection:
        for label in (pick,) if isinstance(pick, str) else pick[:-1]:
            path += (label,)
            yield path
