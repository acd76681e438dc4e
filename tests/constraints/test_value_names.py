"""Names of values that a later file holds in narrower floats."""

from __future__ import annotations

import pytest

from automl_admm.constraints.value_names import find_known


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("1.100000023841858", "1.1"),
        ("0.12345679104328156", "0.123456789"),
        ("0.12345679", "0.123456789"),
        ("f, 7.123000144958496", "f, 7.123"),
    ],
)
def test_a_narrow_number_is_known(name: str, known: str) -> None:
    assert find_known([name, "0.25"], [known, "0.5", "a"]) == {name: known}


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("1.10", ["1.1"]),
        ("007", ["7"]),
        ("123456792", ["123456789"]),
        ("16777218", ["16777217.5"]),
        ("48.137158", ["48.137154"]),
        ("1e-300", ["0"]),
        ("1e+300", ["1e+301"]),
        ("nan", ["inf"]),
        ("0.12345679104328156", ["0.123456789", "0.123456788"]),
        ("1.100000023841858, f", ["1.1, m"]),
    ],
)
def test_others_are_not(name: str, known: list[str]) -> None:
    assert find_known([name], known) == {}
