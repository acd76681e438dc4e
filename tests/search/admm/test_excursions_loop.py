"""Searches that have to leave what they have come to, and to come back."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from automl_admm import minimize
from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.space import Candidate, Choice, Condition, Parameter, SearchSpace, Selection
from automl_admm.search.admm.outer_loop import admm
from automl_admm.search.admm.settings import AdmmSettings, Precision
from automl_admm.search.protocol import Proposal, SearchProblem
from automl_admm.search.starts import default_start

SPACE = SearchSpace(
    (Choice("scaler", ("plain", "wide")), Choice("model", ("tree", "net", "mean"))),
    (
        Parameter("width", 0.0, 1.0, when=Condition("scaler", ("wide",))),
        Parameter("depth", 0.0, 1.0, when=Condition("model", ("tree",))),
        Parameter("layers", 0.0, 1.0, when=Condition("model", ("net",))),
    ),
)
Values = dict[str, Any]


def test_a_search_finds_what_only_wins_once_it_is_tuned() -> None:
    """`wide` is the worst at its default, and the best by far at a width of 0.9."""
    models = {"tree": "depth", "net": "layers"}

    def loss(values: Values) -> float:
        scaler = 20.0 * abs(float(values["width"]) - 0.9) if values["scaler"] == "wide" else 1.0
        name = models.get(str(values["model"]))
        return scaler + (0.3 if name is None else abs(float(values[name]) - 0.2))

    found = minimize(loss, SPACE, max_evaluations=150, theta_solver="gp", random_state=0)
    assert found.loss < 0.5


def test_a_grid_is_searched_whole_where_alternatives_share_their_parameters() -> None:
    """`f` is the worst at all values but one, and the best there."""
    kinds = "abcdef"
    space = SearchSpace((Choice("kind", tuple(kinds)),), (Parameter("n", 0, 19, kind="int"),))

    def loss(values: Values) -> float:
        if values["kind"] == "f":
            return 0.0 if values["n"] == 17 else 9.0
        return 1.0 + 0.1 * kinds.index(str(values["kind"])) + 0.01 * abs(int(values["n"]) - 6)

    found = minimize(
        loss, space, max_evaluations=300, theta_solver="tpe", z_solver="cmab", random_state=0
    )
    assert found.loss == 0.0
    assert len(found.evaluations) == 120


def test_what_is_used_up_does_not_end_the_search() -> None:
    """`last` has most of the points, and looks worst."""
    small = "abcdefghij"
    space = SearchSpace(
        (Choice("kind", (*small, "last")),),
        (
            *(Parameter(f"n{k}", 0, 1, kind="int", when=Condition("kind", (k,))) for k in small),
            Parameter("n", 0, 39, kind="int", when=Condition("kind", ("last",))),
        ),
    )

    def loss(values: Values) -> float:
        return 0.1 * small.index(str(values["kind"])) if "n" not in values else 9.0

    found = minimize(
        loss, space, max_evaluations=200, theta_solver="tpe", z_solver="cmab", random_state=1
    )
    assert len(found.evaluations) == 60


def test_the_best_is_not_left_for_good() -> None:
    """A valley that takes long to follow, beside two alternatives that are hopeless."""
    kinds = ("valley", "hill", "peak")
    space = SearchSpace(
        (Choice("kind", kinds),),
        tuple(
            Parameter(f"{k}{i}", 0, 1, when=Condition("kind", (k,))) for k in kinds for i in "xy"
        ),
    )

    def loss(values: Values) -> float:
        kind = str(values["kind"])
        x, y = (3.0 * float(values[f"{kind}{axis}"]) - 1.0 for axis in "xy")
        rise = 0.0 if kind == "valley" else 5000.0
        return rise + 100.0 * (y - x * x) ** 2 + (1.0 - x) ** 2

    found = minimize(loss, space, max_evaluations=400, theta_solver="random", random_state=0)
    late = found.evaluations[200:]
    share = sum(e.candidate.selection.get("kind") == "valley" for e in late) / len(late)
    assert share > 0.2


class Drawing:
    """A solver of either kind that draws, and keeps what it was begun with."""

    def __init__(self) -> None:
        self.begun: list[Any] = []

    def begin(self, subproblem: Any) -> None:
        self.begun.append(subproblem)
        self._rng = np.random.default_rng(subproblem.seed)

    def tell(self, observations: object) -> None:
        del observations


class DrawingTheta(Drawing):
    def ask(self, count: int, pending: object) -> list[np.ndarray]:
        return [self._rng.random(len(self.begun[-1].parameters)) for _ in range(count)]


class DrawingZ(Drawing):
    def ask(self, count: int, pending: object) -> list[Selection]:
        return [SPACE.sample(self._rng) for _ in range(count)]


def tuned(model: str, loss: float) -> list[Evaluation]:
    selection = SPACE.complete({"scaler": "plain", "model": model})
    candidates = [Candidate(selection, (place / 16,)) for place in range(16)]
    return [Evaluation(1, repr(c), c, Status.SUCCESS, loss) for c in candidates]


def test_the_first_excursion_of_a_search_that_goes_on_is_to_what_was_not_tuned() -> None:
    """`net` is the cheaper one, but was tuned; `wide` was not."""
    losses = {("plain", "tree"): 0.0, ("plain", "net"): 1.0, ("plain", "mean"): 9.0}
    mean = SPACE.complete({"scaler": "plain", "model": "mean"})
    log = (*tuned("tree", 0.0), *tuned("net", 1.0))
    problem = SearchProblem(SPACE, repr, (Candidate(mean, ()),), known=log)
    theta = DrawingTheta()
    search = admm(problem, theta, DrawingZ(), AdmmSettings(precision=Precision(16, 0, 16)))
    event = next(search)
    while len(theta.begun) < 3:
        results = []
        if isinstance(event, Proposal):
            picks = dict(event.candidate.selection.picks)
            loss = losses.get((str(picks["scaler"]), str(picks["model"])), 20.0)
            key = repr(event.candidate)
            results = [Evaluation(1, key, event.candidate, Status.SUCCESS, loss)]
        event = search.send(results)
    names = [[parameter.name for parameter in begun.parameters] for begun in theta.begun]
    assert names[:2] == [["depth"], ["depth"]]
    assert "width" in names[2]


def test_what_a_limit_refuses_does_not_end_the_search() -> None:
    """All but the defaults of seven kinds are excluded beforehand; `a` has points without end."""
    kinds = "abcdefgh"
    space = SearchSpace(
        (Choice("kind", tuple(kinds)),),
        tuple(Parameter(f"n{k}", 0, 1, when=Condition("kind", (k,))) for k in kinds),
    )

    def size(values: Values) -> float:
        kind = values["kind"]
        return 0.0 if kind == "a" or abs(values[f"n{kind}"] - 0.5) < 1e-4 else 2.0

    def loss(values: Values) -> Values:
        place = values[f"n{values['kind']}"]
        return {"loss": kinds.index(values["kind"]) + abs(place - 0.2), "size": size(values)}

    found = minimize(
        loss,
        space,
        constraints=["size <= 1"],
        cheap={"size": size},
        max_evaluations=200,
        theta_solver="tpe",
        z_solver="cmab",
        random_state=0,
    )
    assert len(found.evaluations) == 200


@pytest.mark.parametrize("all_of_a", [False, True])
def test_an_alternative_that_fails_at_its_default_is_tuned(all_of_a: bool) -> None:
    kinds = ("a", "b")
    space = SearchSpace(
        (Choice("kind", kinds),),
        tuple(Parameter(f"n{k}", 0, 1, when=Condition("kind", (k,))) for k in kinds),
    )

    def loss(values: Values) -> float:
        if values["kind"] == "a" and not all_of_a:
            return 1.0 + 0.1 * abs(values["na"] - 0.3)
        if values["kind"] == "a" or 0.45 < values["nb"] < 0.55:
            raise ValueError("it fails")
        return abs(values["nb"] - 0.2)

    found = minimize(loss, space, max_evaluations=100, theta_solver="tpe", random_state=0)
    assert found.loss < 0.1


def test_selections_that_are_one_thing_to_evaluate_do_not_end_the_search() -> None:
    """Eight kinds are one; `z` has as many points, and looks worst at first."""
    kinds = (*(f"a{i}" for i in range(8)), "z")
    space = SearchSpace((Choice("kind", kinds),), (Parameter("n", 0, 19, kind="int"),))

    def key(candidate: Candidate) -> str:
        values = space.values(candidate)
        return f"{str(values['kind'])[0]} {values['n']}"

    assert len(drive(SearchProblem(space, key, (default_start(space),)), GridTheta(20))) == 40


def test_no_excursion_is_to_what_is_known_whole() -> None:
    kinds = tuple(f"{i}" for i in range(20))
    space = SearchSpace((Choice("kind", kinds),), (Parameter("n", 0, 1, kind="int"),))
    theta = GridTheta(2)
    problem = SearchProblem(space, lambda c: repr(space.values(c)), (default_start(space),))
    assert len(drive(problem, theta)) == 40
    assert len(theta.begun) < 30


def drive(problem: SearchProblem, theta: GridTheta) -> set[str]:
    """What was evaluated by the time the search ends; the last alternative looks worst."""
    known: dict[str, Evaluation] = {}
    event = next(search := admm(problem, theta, GridZ()))
    with suppress(StopIteration):
        while True:
            results = []
            if isinstance(event, Proposal):
                key = problem.key(event.candidate)
                loss = float(event.candidate.selection.picks[0][1] in ("z", "19"))
                made = Evaluation(1, key, event.candidate, Status.SUCCESS, loss)
                known.setdefault(key, made)
                results = [replace(known[key], candidate=event.candidate)]
            event = search.send(results)
    return set(known)


class GridTheta(DrawingTheta):
    """Draws what it was not told of yet; nothing where that is all."""

    def __init__(self, places: int) -> None:
        super().__init__()
        self._places = places

    def begin(self, subproblem: Any) -> None:
        super().begin(subproblem)
        self._told = {self._place(observation.point) for observation in subproblem.history}

    def ask(self, count: int, pending: object) -> list[np.ndarray]:
        left = [place for place in range(self._places) if place not in self._told]
        return [np.array([self._rng.choice(left) / (self._places - 1)])] if left else []

    def tell(self, observations: Any) -> None:
        self._told |= {self._place(observation.point) for observation in observations}

    def _place(self, point: np.ndarray) -> int:
        return round(float(point[0]) * (self._places - 1))


class GridZ(Drawing):
    def ask(self, count: int, pending: object) -> list[Selection]:
        return [self.begun[-1].space.sample(self._rng) for _ in range(count)]
