from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from automl_admm.plugins.loading import load_plugins

QUICK = (
    *("--grammar", "tiny", "--cv=2", "--max-evaluations", "4"),
    *("--executor", "inline", "--out", "out"),
)


def test_all_that_can_be_limited_is_listed(run: Any) -> None:
    done = run("constraints")
    assert done.code == 0
    for record in load_plugins().constraints:
        assert record.name in done.out
    assert "demographic_parity_ratio[column]" in done.out


def test_a_sensitive_column_is_no_feature_and_can_be_limited(run: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=200), "sex": rng.choice(["f", "m"], 200)})
    frame["buys"] = np.where(frame["a"] + rng.normal(size=200) > 0, "yes", "no")
    frame.to_csv(tmp_path / "people.csv", index=False)
    done = run(
        *("fit", "people.csv", "--target", "buys", "--sensitive", "sex", *QUICK),
        *("--constraint", "auc_gap[sex] <= 50 %"),
    )
    assert done.code == 0, done.err
    assert "set aside for limits, not given to pipelines: sex" in done.err
    assert "auc_gap[sex] <= 0.5: 0." in done.out
    assert json.loads((tmp_path / "out" / "model.json").read_text())["columns"] == ["a"]


def test_a_sensitive_column_that_is_not_there(run: Any, table: Path) -> None:
    done = run("fit", table, "--target", "buys", "--sensitive", "agee", *QUICK)
    assert done.code == 3
    assert "no column 'agee'" in done.err
    assert "Did you mean 'age'?" in done.err


def test_a_mistake_in_a_limit_is_shown_where_it_is(run: Any, table: Path) -> None:
    done = run("fit", table, "--target", "buys", "--constraint", "fpr < 5 %", *QUICK)
    assert done.code == 2
    assert "fpr < 5 %\n        ^\nhelp: Write '<='." in done.err


def test_a_limit_that_nobody_means_is_told_before_the_search(run: Any, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,y\n" + "".join(f"{n * n % 17},{n % 2}\n" for n in range(60)))
    asked = ("fit", "t.csv", "--target=y", "--constraint", "fpr >= 5 %", "--dry-run", "--cv=2")
    done = run(*asked)
    assert done.code == 0, done.err
    assert "warning: the limit 'fpr >= 0.05' keeps out" in done.out + done.err
