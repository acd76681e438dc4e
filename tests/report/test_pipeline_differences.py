"""Pipelines side by side."""

from __future__ import annotations

from automl_admm.report.pipeline_differences import put_side_by_side


def test_parameters_that_differ_are_told_apart_from_equal_ones() -> None:
    found = put_side_by_side(['impute(strategy="mean") pca(n=1) pca(n=2)', "pca(n=1) pca(n=3)"])
    assert found.shapes == ("impute → pca → pca", "pca → pca")
    assert [(one.name, one.values) for one in found.differences] == [
        ("impute.strategy", ('"mean"', None)),
        ("pca#2.n", ("2", "3")),
    ]
    assert len(found.parameters) == 3


def test_a_null_is_not_a_step_that_is_missing() -> None:
    (one,) = put_side_by_side(["ridge(w=null)", "tree()"]).differences
    assert one.values == ("null", None)


def test_steps_in_branches_count_and_a_text_of_no_pipeline_has_none() -> None:
    found = put_side_by_side(["union{pca(n=1), pca(n=2)} tree()", "a constant!"])
    assert [one.name for one in found.parameters] == ["pca.n", "pca#2.n"]
    assert found.shapes[1] == "a constant!"
