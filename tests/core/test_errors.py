from __future__ import annotations

import ast
import pickle
from inspect import signature
from pathlib import Path

import pytest

from automl_admm import AutoMLClassifier
from automl_admm.cli.commands.fit import command as fit_command
from automl_admm.core import errors, messages
from automl_admm.runs.options import FLAGS


def test_suggestions_name_what_is_near_or_list_what_is_known() -> None:
    assert errors.suggest("smaac", ["smac", "gp"]) == "Did you mean 'smac'?"
    assert errors.suggest("zzz", ["gp", "cmab"]) == "Known: cmab, gp."
    assert errors.suggest("zzz", ["gp", "cmab", "gp"]) == "Known: cmab, gp."
    assert errors.suggest("zzz", []) == "None is known."
    assert errors.suggest("zzz", [f"name{i:02}" for i in range(30)]).endswith("name11, …")


def test_exit_codes_are_the_documented_ones() -> None:
    codes = {
        errors.ConfigurationError: 2,
        errors.GrammarError: 2,
        errors.PluginError: 2,
        errors.DataError: 3,
        errors.NoSuccessError: 4,
        errors.InfeasibleError: 5,
        errors.StoreError: 7,
        errors.DiskFullError: 8,
    }
    assert {kind: kind("x").exit_code for kind in codes} == codes


def test_a_reason_is_one_line_with_a_full_stop() -> None:
    assert messages.reason_of(ValueError("boom\nand more")) == "boom."
    assert messages.reason_of(ValueError("boom.")) == "boom."
    assert messages.reason_of(ValueError()) == "ValueError."


def test_an_unknown_name_reads_as_one_line() -> None:
    error = errors.UnknownNameError("theta solver", "gpp", ["gp", "random"])
    assert str(error) == "no theta solver named 'gpp'. Did you mean 'gp'?"
    hinted = errors.UnknownNameError("theta solver", "gpp", ["gp"], hint="It is a z solver.")
    assert str(hinted) == "no theta solver named 'gpp'. It is a z solver."
    with pytest.raises(errors.AutomlAdmmError):
        raise error


def test_a_remedy_names_parameters_in_python_and_options_in_a_shell() -> None:
    hint = errors.Remedy("Give {work_dir}, {certify=0.95} or {z_solver='bo'}.")
    problem = errors.ConfigurationError("no {seed}.", hint=hint)
    assert str(problem) == "no {seed}. Give work_dir, certify=0.95 or z_solver='bo'."
    assert problem.on_command_line(FLAGS) == (
        "no {seed}. Give --out, --certify 0.95 or --z-solver bo."
    )


def test_a_remedy_may_differ_in_python_and_a_plain_hint_does_not() -> None:
    hint = errors.Remedy("Give --fresh.", python="Call it anew.")
    assert str(errors.DataError("wrong.", hint=hint)) == "wrong. Call it anew."
    assert errors.DataError("wrong.", hint=hint).on_command_line(FLAGS) == "wrong. Give --fresh."
    assert errors.DataError("wrong.", hint="Stop.").on_command_line(FLAGS) == "wrong. Stop."
    assert errors.DataError("wrong.").on_command_line(FLAGS) == "wrong."


def test_what_remedies_name_is_there_in_both_worlds() -> None:
    package = Path(errors.__file__).parents[1]
    named: set[str] = set()
    for source in package.rglob("*.py"):
        text = source.read_text(encoding="utf-8")
        if source.name != "errors.py" and "Remedy(" in text:
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Remedy":
                    texts = [
                        part.value for part in ast.walk(node) if isinstance(part, ast.Constant)
                    ]
                    found = errors.SETTING.finditer(" ".join(map(str, texts)))
                    named |= {setting["name"] for setting in found}
    assert {"certify", "time_budget", "work_dir", "group_thresholds"} <= named
    parameters = {*AutoMLClassifier().get_params(), *signature(AutoMLClassifier.fit).parameters}
    options = {option for given in fit_command.params for option in given.opts}
    assert named <= parameters
    assert {errors.Remedy(f"{{{name}}}").on_command_line(FLAGS) for name in named} <= options


ALL_ERRORS = [
    errors.UnknownNameError("metric", "rocauc", ["roc_auc"]),
    errors.DataError("a row is empty.", hint="Remove it."),
    errors.GrammarError("line 1: no rule."),
    errors.InfeasibleError("nothing is within.", hint=errors.Remedy("Give {cv}."), closest=0.2),
    errors.NotCertifiedError("nothing is proven.", closest={"fpr": 0.1}),
]


@pytest.mark.parametrize("error", ALL_ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_arrives_whole_in_another_process(error: errors.AutomlAdmmError) -> None:
    found = pickle.loads(pickle.dumps(error))
    assert type(found) is type(error)
    assert str(found) == str(error)
    assert vars(found) == vars(error)


def test_an_error_arrives_without_a_result_that_cannot_be_sent() -> None:
    error = errors.InfeasibleError("nothing is within.", closest=lambda: None)
    found = pickle.loads(pickle.dumps(error))
    assert str(found) == "nothing is within."
    assert found.closest is None
    assert error.closest is not None
