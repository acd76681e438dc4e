"""Mistakes in grammars that only a run would have met are told by `grammar check`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

HEAD = "%import components (logistic_regression, decision_tree, pca, gaussian_nb)\n"


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        (
            'start: "logistic_regression" "(" "C" "=" float{"-5", "5"} ")"',
            "'C' takes no numbers below 0; -5 is one",
        ),
        (
            'start: "logistic_regression" "(" "C" "=" log_float{"1e-320", "1e308"} ")"',
            "no scale reaches from 1e-320 to 1e308",
        ),
        (
            'start: "decision_tree" "(" "max_depth" "=" int{"1", "12345678901234567890"} ")"',
            "'max_depth' cannot be 12345678901234567890: that number is too large",
        ),
        (
            (
                "start: a gaussian_nb\n"
                'a: "pca" "(" "n_components" "=" "0.5" ")" | "pca" "(" "n_components" "=" "0.9" ")"'
            ),
            "Their values are others: name them",
        ),
        ("start: a\na: gaussian_nb | gaussian_nb", "Delete one of them."),
    ],
)
def test_a_mistake_is_said_for_what_it_is(rules: str, said: str, run: Any, tmp_path: Path) -> None:
    (tmp_path / "g.lark").write_text(f"{HEAD}{rules}\n")
    ended = run("grammar", "check", "g.lark")
    assert ended.code == 2
    assert said in ended.err


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            '"select_percentile" "(" "percentile" "=" int{"1", "150"} ")" gaussian_nb',
            "[0.0, 100.0]",
        ),
        ('"decision_tree" "(" "max_features" "=" float{"0.5", "1.5"} ")"', "(0.0, 1.0]"),
        ('"gradient_boosting" "(" "subsample" "=" choice{"1", "2"} ")"', "(0.0, 1.0]"),
        ('"logistic_regression" "(" "C" "=" float{"0", "5"} ")"', "(0.0, inf]"),
        ('"svm" "(" "C" "=" float{"0", "5"} ")"', "(0.0, inf"),
        ('"hist_gradient_boosting" "(" "max_features" "=" "2" ")"', "(0.0, 1.0]"),
        ('"svm" "(" "kernel" "=" choice{"rbf", "rfb"} ")"', "does not take the value 'rfb'"),
    ],
)
def test_what_scikit_learn_refuses_is_refused_with_what_it_takes(
    call: str, said: str, run: Any, tmp_path: Path
) -> None:
    name = call.split('"')[1]
    both = f"%import components ({name}, gaussian_nb)\nstart: {call} | gaussian_nb\n"
    (tmp_path / "g.lark").write_text(both)
    ended = run("grammar", "check", "g.lark")
    assert ended.code == 2
    assert said in ended.err


def test_what_a_component_makes_of_a_parameter_is_not_asked_of_the_estimator(
    run: Any, tmp_path: Path
) -> None:
    rules = (
        'start: "ada_boost" "(" "max_depth" "=" int{"1", "40"} ")" | "mlp" "(" "units" "=" "8" ")"'
    )
    (tmp_path / "g.lark").write_text(f"%import components (ada_boost, mlp)\n{rules}\n")
    ended = run("grammar", "check", "g.lark")
    assert ended.code == 0, ended.err


def test_what_help_says_of_two_values_is_right(run: Any, tmp_path: Path) -> None:
    pieces = ('"pca" "(" "n_components" "=" "0.5" ")"', '"pca" "(" "n_components" "=" "0.9" ")"')
    rules = f"start: a gaussian_nb\na: {pieces[0]} -> first | {pieces[1]} -> second"
    (tmp_path / "g.lark").write_text(f"%import components (pca, gaussian_nb)\n{rules}\n")
    assert run("grammar", "check", "g.lark").code == 0


def test_a_pipe_is_no_grammar_that_does_not_exist(run: Any) -> None:
    ended = run("grammar", "check", "/dev/null")
    assert ended.code == 2
    assert "is no ordinary file" in ended.err


def test_a_name_too_long_for_a_file_is_told_in_short(run: Any) -> None:
    ended = run("grammar", "check", "g" * 300)
    assert ended.code == 2
    assert "no grammar file can be named 'ggg" in ended.err
    assert len(ended.err) < 300


def test_a_column_in_other_letters_is_found(run: Any, table: Path) -> None:
    ended = run("fit", table, "--target", "BUYS")
    assert "Did you mean 'buys'?" in ended.err
