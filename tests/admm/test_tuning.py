"""Where θ-min goes when neither block improves, and that it pays."""

from __future__ import annotations

from automl_admm import minimize
from automl_admm.admm.tuning import Excursion, Tunings
from automl_admm.problem import Evaluation, Status
from automl_admm.search import SearchProblem
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
    tunings.enter(TREE, 16)
    assert tunings.is_tuned(TREE, 32)
    assert not tunings.is_tuned(TREE, 33)
    assert not tunings.is_tuned(NET, 16)


def test_the_least_tuned_parameters_come_first_and_then_the_cheapest() -> None:
    tunings = Tunings(SPACE)
    tunings.enter(TREE, 16)
    prices = {TREE: 0.0, NET: 2.0, WIDE: 3.0, MEAN: 1.0}
    assert tunings.excursion(prices) == Excursion(NET, 0)


def test_a_decision_has_its_turn_however_bad_its_alternatives_look() -> None:
    tunings = Tunings(SPACE)
    prices = {TREE: 1.0, NET: 2.0, WIDE: 9.0, BARE: 8.0}
    gone = []
    for _ in range(4):
        excursion = tunings.excursion(prices)
        assert excursion is not None
        tunings.enter(excursion.selection, 16)
        gone.append(excursion)
    assert gone == [Excursion(TREE, 0), Excursion(BARE, 0), Excursion(NET, 0), Excursion(BARE, 1)]


def test_a_search_that_goes_on_knows_what_was_tuned() -> None:
    def known(selection: Selection, times: int, fidelity: float = 1.0) -> list[Evaluation]:
        active = SPACE.active(selection)
        places = [Candidate(selection, (i / times,) * len(active), fidelity) for i in range(times)]
        return [Evaluation(1, str(c), c, Status.SUCCESS, 1.0) for c in places]

    log = (*known(TREE, 8), *known(NET, 7), *known(WIDE, 99, fidelity=0.5))
    problem = SearchProblem(SPACE, str, (Candidate(MEAN, ()),), known=log)
    tunings = Tunings.of(problem, 16)
    assert tunings.is_tuned(TREE, 16)
    assert not tunings.is_tuned(TREE, 17)
    assert not tunings.is_tuned(NET, 14)
    assert not tunings.is_tuned(WIDE, 4)
    assert tunings.excursion({TREE: 0.0, NET: 1.0}) == Excursion(NET, 0)


def test_where_nothing_has_parameters_there_is_nowhere_to_go() -> None:
    assert Tunings(SPACE).excursion({MEAN: 1.0}) is None
    assert Tunings(SPACE).excursion({}) is None


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
