"""Where θ-min goes when neither block improves."""

from __future__ import annotations

from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.space import Candidate, Choice, Condition, Parameter, SearchSpace, Selection
from automl_admm.search.admm.excursions import Excursion, Tunings
from automl_admm.search.protocol import SearchProblem

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


def test_where_the_last_tuning_found_nothing_there_is_no_other() -> None:
    tunings = Tunings(SPACE)
    tunings.enter(TREE, 16, 0)
    tunings.enter(NET, 16, 16)
    assert tunings.is_tuned(TREE, 99)
    assert tunings.depart({TREE: 0.0}, {}) is None
    tunings.enter(TREE, 16, 1)
    assert tunings.depart({TREE: 0.0}, {}) == Excursion(TREE, 2)


def test_of_two_that_stand_alike_the_first_is_taken() -> None:
    tunings = Tunings(SPACE)
    assert tunings.depart({NET: 1.0, TREE: 1.0}, {}) == Excursion(NET, 0)
    assert Tunings(SPACE).depart({TREE: 1.0, NET: 1.0}, {}) == Excursion(TREE, 0)
