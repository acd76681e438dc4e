"""The roster: the places that have joined, with the number of their jobs."""

from __future__ import annotations

from automl_admm.execution.remote.transport import Place


class Roster:
    """The places and how many jobs each has; at `most` so many at a time in all, if given."""

    def __init__(self, most: int | None) -> None:
        self._most = most
        self._places: dict[Place, int] = {}

    @property
    def places(self) -> tuple[Place, ...]:
        """The present places."""
        return tuple(self._places)

    @property
    def workers(self) -> int:
        """Number of jobs at a time; 1 without any place, because the run waits for one."""
        total = sum(place.at_once for place in self._places)
        return max(min(total, self._most or total), 1)

    def join(self, place: Place) -> None:
        """Enter a place."""
        self._places[place] = 0

    def leave(self, place: Place) -> None:
        """Strike a place out."""
        self._places.pop(place, None)

    def take(self) -> Place | None:
        """Claim the place with most room; None if a job has to wait."""
        place = max(self._places, key=self._room, default=None)
        if place is None or self._room(place) < 1 or sum(self._places.values()) >= self.workers:
            return None
        self._places[place] += 1
        return place

    def give_back(self, place: Place) -> None:
        """A job of a place has ended."""
        if place in self._places:
            self._places[place] -= 1

    def _room(self, place: Place) -> int:
        return place.at_once - self._places[place]
