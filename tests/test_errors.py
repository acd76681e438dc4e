from __future__ import annotations

import pytest

from automl_admm import errors


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
    assert errors.reason_of(ValueError("boom\nand more")) == "boom."
    assert errors.reason_of(ValueError("boom.")) == "boom."
    assert errors.reason_of(ValueError()) == "ValueError."


def test_an_unknown_name_reads_as_one_line() -> None:
    error = errors.UnknownNameError("theta solver", "gpp", ["gp", "random"])
    assert str(error) == "no theta solver named 'gpp'. Did you mean 'gp'?"
    hinted = errors.UnknownNameError("theta solver", "gpp", ["gp"], hint="It is a z solver.")
    assert str(hinted) == "no theta solver named 'gpp'. It is a z solver."
    with pytest.raises(errors.AutomlAdmmError):
        raise error
