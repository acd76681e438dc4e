"""The tables of the ablation: each variant beside the default."""

from __future__ import annotations

from typing import Any

import ablation
from ablation import DEFAULT, Run, report


def record(data: str, variant: str, score: float | None, evaluations: int = 10) -> dict[str, Any]:
    shared = {**vars(Run(data, 0, variant, 20.0)), "commit": "abc"}
    if score is None:
        return {**shared, "error": "it died"}
    return {**shared, "score": score, "evaluations": evaluations, "metric": "r2"}


def test_a_variant_is_compared_with_the_default_set_by_set() -> None:
    found = [record(data, DEFAULT, 0.9) for data in "abcd"]
    found += [record(data, "no-racing", 0.8, 5) for data in "abc"]
    found += [record("d", "no-racing", 0.90001, 5)]
    told = report(found)["tables"]["ablation"]
    assert told["title"] == "4 sets, 4 splits, 20 s each"
    default, other = told["rows"]
    assert default[0] == DEFAULT
    assert other[2:7] == [3, 0, 1, "0.250", "0.50"]
    assert other[-2:] == [0, "abc"]


def test_a_failure_is_the_worst_and_a_split_without_all_variants_waits() -> None:
    found = [record("a", DEFAULT, 0.1), record("a", "no-racing", None), record("b", DEFAULT, 0.5)]
    tables = report(found)["tables"]
    assert tables["ablation"]["rows"][1][2:] == [1, 0, 0, "1.000", "none", 1, "abc"]
    assert tables["scores"]["rows"] == [["a", 0, "r2", "0.1000", "failed"]]
    assert report(found[2:] + found[1:2])["tables"] == {}


def test_a_run_is_known_by_its_set_split_variant_and_seconds() -> None:
    found = record("a", DEFAULT, 0.1)
    assert Run("a", 0, DEFAULT, 20.0).is_of(found)
    assert not Run("a", 1, DEFAULT, 20.0).is_of(found)
    assert not Run("a", 0, DEFAULT, 60.0).is_of(found)
    assert set(ablation.VARIANTS) > {DEFAULT, "joint-tpe", "joint-random"}
