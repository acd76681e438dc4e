"""Where θ-min goes when neither block improves, and that it pays."""

from __future__ import annotations

from typing import Any

import numpy as np

from automl_admm import minimize
from automl_admm.admm.loop import AdmmSettings, admm
from automl_admm.admm.schedule import Precision
from automl_admm.admm.tuning import Excursion, Tunings
from automl_admm.problem import Evaluation, Status
from automl_admm.search import Proposal, SearchProblem
from automl_admm.space import Candidate, Choice, Condition, Parameter, SearchSpace, Selection

SPACE = SearchSpace(
    (Choice("scaler", ("plain", "wide")), Choice("model", ("tree", "net", "mean"))),
    (
        Parameter("width", 0.0, 1.0, when=Condition("scaler", ("wide",))),
        Parameter("depth", 0.0, 1.0, when=Condition("model", ("tree",))),
        Parameter("layers", 0.0, 1.0, when=Condition("model", ("net",))),
    ),
)


def at(scaler: str, model: str) -> Selection:
    return SPACE.complete({"scaler": scaler, "model": model})


TREE, NET, MEAN = at("plain", "tree"), at("plain", "net"), at("plain", "mean")
WIDE, BARE = at("wide", "tree"), at("wide", "mean")


def test_what_was_tuned_half_as_closely_is_tuned() -> None:
    tunings = Tunings(SPACE)
    assert not tunings.is_tuned(TREE, 16)
    tunings.enter(TREE, 16, 16)
    assert tunings.is_tuned(TREE, 32)
    assert not tunings.is_tuned(TREE, 33)
    assert not tunings.is_tuned(NET, 16)


def test_what_is_tuned_has_its_turn_again_once_as_much_was_spent_elsewhere() -> None:
    tunings = Tunings(SPACE)
    tunings.enter(TREE, 16, 8)
    tunings.enter(NET, 16, 7)
    assert tunings.is_tuned(TREE, 16)
    tunings.enter(NET, 16, 1)
    assert not tunings.is_tuned(TREE, 16)
    assert tunings.is_tuned(NET, 16)


def test_a_rough_tuning_does_not_undo_a_close_one() -> None:
    tunings = Tunings(SPACE)
    tunings.enter(TREE, 64, 64)
    tunings.enter(TREE, 16, 16)
    assert tunings.is_tuned(TREE, 128)


def test_the_least_tuned_parameters_come_first_and_then_the_cheapest() -> None:
    tunings = Tunings(SPACE)
    tunings.enter(TREE, 16, 16)
    prices = {TREE: 0.0, NET: 2.0, WIDE: 3.0, MEAN: 1.0}
    assert tunings.depart(prices, {}) == Excursion(NET, 0)


def test_a_decision_has_its_turn_however_bad_its_alternatives_look() -> None:
    tunings = Tunings(SPACE)
    prices = {TREE: 1.0, NET: 2.0, WIDE: 9.0, BARE: 8.0}
    gone = []
    for _ in range(4):
        excursion = tunings.depart(prices, {})
        assert excursion is not None
        tunings.enter(excursion.selection, 16, 16)
        gone.append(excursion)
    assert gone == [Excursion(TREE, 0), Excursion(BARE, 0), Excursion(NET, 0), Excursion(WIDE, 0)]


def test_alternatives_that_share_their_parameters_take_turns() -> None:
    shared = SearchSpace((Choice("kind", ("a", "b", "c")),), (Parameter("x", 0.0, 1.0),))
    a, b, c = (shared.complete({"kind": kind}) for kind in "abc")
    tunings = Tunings(shared)
    tunings.enter(a, 64, 64)
    first = tunings.depart({b: 1.0, c: 2.0}, {})
    assert first == Excursion(b, 0)
    tunings.enter(b, 16, 16)
    assert tunings.depart({b: 1.0, c: 2.0}, {}) == Excursion(c, 0)


def test_what_is_used_up_is_not_tuned() -> None:
    grid = SearchSpace((Choice("kind", ("a", "b")),), (Parameter("n", 1, 3, kind="int"),))
    a, b = (grid.complete({"kind": kind}) for kind in "ab")
    tunings = Tunings(grid)
    assert tunings.depart({a: 0.0, b: 1.0}, {a: 3, b: 2}) == Excursion(b, 0)
    assert tunings.depart({a: 0.0}, {a: 3}) is None


def known(selection: Selection, times: int, loss: float, fidelity: float = 1.0) -> list[Evaluation]:
    active = SPACE.active(selection)
    places = [Candidate(selection, (i / times,) * len(active), fidelity) for i in range(times)]
    return [Evaluation(1, str(c), c, Status.SUCCESS, loss) for c in places]


def test_a_search_that_goes_on_knows_what_was_tuned() -> None:
    log = (*known(TREE, 8, 1.0), *known(NET, 7, 1.0), *known(WIDE, 99, 1.0, fidelity=0.5))
    problem = SearchProblem(SPACE, str, (Candidate(MEAN, ()),), known=log)
    tunings = Tunings.of(problem, 16)
    assert tunings.is_tuned(TREE, 16)
    assert not tunings.is_tuned(TREE, 17)
    assert not tunings.is_tuned(NET, 14)
    assert not tunings.is_tuned(WIDE, 4)
    assert tunings.depart({TREE: 0.0, NET: 1.0}, {}) == Excursion(NET, 0)


def test_single_evaluations_in_every_z_min_are_no_tuning() -> None:
    log = [e for pair in zip(known(TREE, 40, 1.0), known(NET, 40, 1.0), strict=True) for e in pair]
    problem = SearchProblem(SPACE, str, (Candidate(MEAN, ()),), known=tuple(log))
    assert not Tunings.of(problem, 4).is_tuned(TREE, 4)


def test_where_nothing_has_parameters_there_is_nowhere_to_go() -> None:
    assert Tunings(SPACE).depart({MEAN: 1.0}, {}) is None
    assert Tunings(SPACE).depart({}, {}) is None


def test_a_search_finds_what_only_wins_once_it_is_tuned() -> None:
    """`wide` is the worst at its default, and the best by far at a width of 0.9."""
    models = {"tree": "depth", "net": "layers"}

    def loss(values: dict[str, float | str]) -> float:
        scaler = 20.0 * abs(float(values["width"]) - 0.9) if values["scaler"] == "wide" else 1.0
        name = models.get(str(values["model"]))
        return scaler + (0.3 if name is None else abs(float(values[name]) - 0.2))

    for seed in range(5):
        found = minimize(loss, SPACE, max_evaluations=150, theta_solver="gp", random_state=seed)
        assert found.loss < 0.5


def test_a_grid_is_searched_whole_where_alternatives_share_their_parameters() -> None:
    """`f` is the worst at all values but one, and the best there."""
    kinds = "abcdef"
    space = SearchSpace((Choice("kind", tuple(kinds)),), (Parameter("n", 0, 19, kind="int"),))

    def loss(values: dict[str, int | str]) -> float:
        if values["kind"] == "f":
            return 0.0 if values["n"] == 17 else 9.0
        return 1.0 + 0.1 * kinds.index(str(values["kind"])) + 0.01 * abs(int(values["n"]) - 6)

    for seed in range(2):
        found = minimize(
            loss, space, max_evaluations=300, theta_solver="tpe", z_solver="cmab", random_state=seed
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

    def loss(values: dict[str, int | str]) -> float:
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

    def loss(values: dict[str, float | str]) -> float:
        kind = str(values["kind"])
        x, y = (3.0 * float(values[f"{kind}{axis}"]) - 1.0 for axis in "xy")
        rise = 0.0 if kind == "valley" else 5000.0
        return rise + 100.0 * (y - x * x) ** 2 + (1.0 - x) ** 2

    for seed in range(2):
        found = minimize(loss, space, max_evaluations=500, theta_solver="random", random_state=seed)
        late = found.evaluations[250:]
        share = sum(e.candidate.selection.get("kind") == "valley" for e in late) / len(late)
        assert share > 0.3


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


def test_the_first_excursion_of_a_search_that_goes_on_is_to_what_was_not_tuned() -> None:
    """`net` is the cheaper one, but was tuned; `wide` was not."""
    losses = {("plain", "tree"): 0.0, ("plain", "net"): 1.0, ("plain", "mean"): 9.0}
    log = (*known(TREE, 16, 0.0), *known(NET, 16, 1.0))
    problem = SearchProblem(SPACE, repr, (Candidate(MEAN, ()),), known=log)
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
