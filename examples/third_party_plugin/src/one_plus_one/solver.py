"""A (1+1)-evolution strategy, whose steps grow with success and shrink without."""

import math

import numpy as np

TRIES, LONGER, SHORTER = 64, 1.5, 1.5**-0.25  # the length stays where one step in five succeeds


class OnePlusOne:
    """Steps from the best point known, of a length that follows their success."""

    def __init__(self, options):
        self.first_step = options.step

    def begin(self, subproblem):
        """Start on a box: `history` has what is known of it, `start` is the best place so far."""
        self.parameters, self.best = subproblem.parameters, subproblem.start
        self.rng = np.random.default_rng(subproblem.seed)
        self.loss, self.known, self.step = math.inf, set(), self.first_step
        self.tell(subproblem.history)
        self.step = self.first_step

    def ask(self, count, pending):
        """Propose up to `count` points; `pending` ones are being evaluated."""
        taken = self.known | {self._key(point) for point in pending}
        points = []
        for attempt in range(TRIES * count):  # in a box that is used up, all of them are in vain
            if len(points) == count:
                break
            point = self.best if attempt == 0 else self._mutant(longer=1.1**attempt)
            if self._key(point) not in taken:
                points.append(point)
                taken.add(self._key(point))
        return points

    def tell(self, observations):
        """Learn from points, which may have failed, or been asked for by nobody."""
        for told in observations:
            is_better = not told.failed and told.loss < self.loss
            self.step = min(self.step * (LONGER if is_better else SHORTER), 0.5)
            self.known.add(self._key(told.point))
            if is_better:
                self.best, self.loss = told.point, told.loss

    def _mutant(self, longer):
        moved = self.best + self.step * longer * self.rng.standard_normal(len(self.parameters))
        return self._on_grid(np.clip(moved, 0.0, 1.0))

    def _on_grid(self, point):  # an integer has its places on [0, 1]
        return np.array([p.project(x) for p, x in zip(self.parameters, point, strict=True)])

    def _key(self, point):
        return tuple(np.round(self._on_grid(point), 6))
