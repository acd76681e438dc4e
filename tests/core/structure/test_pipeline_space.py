from __future__ import annotations

from automl_admm.core.space import (
    Candidate,
    Choice,
    Condition,
    Order,
    Parameter,
    SearchSpace,
    Selection,
)
from automl_admm.core.structure.pipeline_space import (
    NOTHING,
    Alternatives,
    Branches,
    ByType,
    Module,
    Ordered,
    PipelineSpace,
    Sequence,
    Stack,
    Step,
    Union,
    all_modules,
    all_steps,
    content_hash,
    occupied,
    render,
)

SPACE = SearchSpace(
    decisions=(
        Choice("reducer", ("none", "pca")),
        Choice("svm.kernel", ("rbf", "poly")),
        Order("start.order", ("scale", "reducer")),
    ),
    parameters=(
        Parameter("pca.n", 1, 5, kind="int", when=Condition("reducer", ("pca",))),
        Parameter("svm.degree", 2, 4, kind="int", when=Condition("svm.kernel", ("poly",))),
    ),
)
SHAPE = Sequence(
    (
        Ordered(
            "start.order",
            (
                ("scale", Module("scale")),
                (
                    "reducer",
                    Alternatives(
                        "reducer", (("none", NOTHING), ("pca", Module("pca", (("n", "pca.n"),))))
                    ),
                ),
            ),
        ),
        Module(
            "svm", (("kernel", "svm.kernel"), ("degree", "svm.degree")), (("probability", False),)
        ),
    )
)
PIPELINES = PipelineSpace(SPACE, SHAPE)


def candidate(theta: tuple[float, ...], **picks: object) -> Candidate:
    names = {"order": "start.order", "kernel": "svm.kernel"}
    return Candidate(SPACE.complete({names.get(k, k): v for k, v in picks.items()}), theta)


def test_a_selection_is_read_as_a_pipeline() -> None:
    chosen = candidate((1.0, 0.0), reducer="pca", order=("reducer", "scale"), kernel="poly")
    assert PIPELINES.text(chosen) == (
        'pca(n=5) scale() svm(probability=false, kernel="poly", degree=2)'
    )


def test_nothing_is_no_step_and_an_inactive_parameter_is_left_out() -> None:
    assert PIPELINES.text(candidate(())) == 'scale() svm(probability=false, kernel="rbf")'


def test_the_model_is_what_a_pipeline_ends_in() -> None:
    assert PIPELINES.model(candidate((1.0,), reducer="pca")) == "svm"
    branches = PipelineSpace(SPACE, Union((Module("pca"), Module("scale"))))
    assert branches.model(candidate(())) == "union{pca(), scale()}"


def test_two_candidates_that_are_one_pipeline_share_a_key() -> None:
    one = candidate((), order=("scale", "reducer"))
    other = candidate((), order=("reducer", "scale"))
    assert one != other
    assert PIPELINES.key(one) == PIPELINES.key(other)
    near = [candidate((unit,), reducer="pca") for unit in (0.26, 0.3, 0.4)]
    assert PIPELINES.key(near[0]) == PIPELINES.key(near[1]) != PIPELINES.key(near[2])


def test_arguments_in_another_order_are_the_same_pipeline() -> None:
    """As written by two calls of one component; keys of older runs are those of the first."""
    decisions = (Choice("call", ("first", "second")),)
    parameters = (Parameter("n", 1, 5, kind="int"), Parameter("w", 1, 5, kind="int"))
    calls = (
        ("first", Union((Module("pca", (("n", "n"),), (("w", 2),)), NOTHING))),
        ("second", Union((Module("pca", (("w", "w"),), (("n", 3),)), NOTHING))),
    )
    pipelines = PipelineSpace(SearchSpace(decisions, parameters), Alternatives("call", calls))
    first, second, other = (
        Candidate(Selection((("call", call),)), theta)
        for call, theta in (("first", (0.5, 0.0)), ("second", (0.0, 0.25)), ("second", (0.0, 0.5)))
    )
    assert pipelines.text(first) == "union{pca(w=2, n=3), none}"
    assert pipelines.text(second) == "union{pca(n=3, w=2), none}"
    assert pipelines.key(first) == pipelines.key(second) == content_hash(pipelines.text(first))
    assert pipelines.key(first) != pipelines.key(other)


def test_all_modules_are_listed_as_written() -> None:
    assert [module.component for module in all_modules(SHAPE)] == ["scale", "pca", "svm"]


def test_branches_are_read_written_and_listed() -> None:
    reducer = Alternatives(
        "reducer", (("none", NOTHING), ("pca", Module("pca", (("n", "pca.n"),))))
    )
    order = Ordered("start.order", (("scale", Module("scale")), ("reducer", reducer)))
    shape = Sequence(
        (
            ByType(Module("fill"), NOTHING),
            Union((order, reducer)),
            Stack(Module("k")),
            Module("svm"),
        )
    )
    pipelines = PipelineSpace(SPACE, shape)
    chosen = candidate((1.0,), reducer="pca", order=("reducer", "scale"))
    assert pipelines.text(chosen) == (
        "by_type{fill(), none} union{pca(n=5) scale(), pca(n=5)} stack{k()} svm()"
    )
    assert pipelines.text(candidate(())).startswith("by_type{fill(), none} union{scale(), none}")
    assert [module.component for module in all_modules(shape)] == [
        *("fill", "scale", "pca", "pca", "k", "svm")
    ]
    names = [step.component for step in all_steps(pipelines.steps(chosen))]
    assert names == ["fill", "pca", "scale", "pca", "k", "svm"]


def test_branches_without_a_component_do_nothing() -> None:
    empty = Branches("union", ((), (Branches("by_type", ((), ())),)))
    assert empty.is_empty
    assert occupied((empty, Step("svm"))) == (Step("svm"),)
    assert render((empty,)) == "union{none, by_type{none, none}}"
