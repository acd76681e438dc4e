"""The study of searches on tables: its pairs, its tests, and runs that ended early."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import table_study
from table_objective import table_of
from table_runs import evaluations_of, tight_limits
from table_study import COUNTS, METHODS, SHIPPED, Job, pair_rows, read_runs, regret_rows

from automl_admm.search.admm import outer_loop


def test_pairs_are_counted_with_ties_as_half_and_tests_are_corrected() -> None:
    ours = np.zeros((8, len(COUNTS)))
    worse, shorter = ours + 0.01, ours.copy()
    worse[:2, 0] = 0.0
    shorter[:, -1] = np.nan
    rows = {row[0]: row for row in pair_rows({SHIPPED: ours, "worse": worse, "shorter": shorter})}
    assert rows["worse"][1].startswith("88%, 6/0/2 (p ")
    # 0.0078 for 8 of 8; nine cells are tested, four of them at least as sure.
    assert rows["worse"][2] == "100%, 8/0/0 (p 0.07)"
    assert rows["shorter"][1] == "50%, 0/0/8 (p 1)"
    assert rows["shorter"][-1] == "-"
    assert regret_rows({"shorter": shorter + 0.0123})[0][1] == "1.23"


def test_a_run_is_kept_with_its_commit_and_not_made_again(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    job = Job("joint random", "default-ionosphere", "a tenth within", 3, COUNTS[-1])
    path.write_text('["torn')
    table_study.make_runs([job], path, processes=1)
    table_study.make_runs([job], path, processes=1)
    (kept,) = read_runs(path).values()
    assert len(kept.ended.best) == len(COUNTS)
    assert kept.commit
    found = table_study.by_method([job], {job.key: kept}, "a tenth within")["joint random"]
    assert 0.0 <= found[0, -1] <= found[0, 0] < 1.0


@pytest.mark.parametrize("name", ["z-min first", "joint blocks"])
def test_a_change_is_another_search_and_is_taken_back(name: str) -> None:
    table, before = table_of("default-ionosphere"), vars(outer_loop).copy()
    limits = tight_limits(table, 0.1)

    def found(of: str) -> list[str]:
        with METHODS[of].change():
            made = evaluations_of(METHODS[of], table, limits, 5, 26)
        return [one.key for one in made]

    changed = found(name)
    assert len(set(changed)) == 26
    assert changed == found(name), "the same seed, the same search"
    assert changed != found(SHIPPED)
    assert vars(outer_loop) == before
