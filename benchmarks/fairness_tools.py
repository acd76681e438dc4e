"""The numbers of fairlearn and AIF360 beside ours, on models of real data.

    python benchmarks/fairness_tools.py --data ../shared/data --write

Ten models, each the better of two evaluations, learn from 60 % of the rows. Rows that they never
saw go through a CSV file into `report --csv` and `evaluate`, and as a frame into
`load(RUN).predict`, whose predictions fairlearn and AIF360 measure. `--write` puts the largest
differences into measured/.
AIF360 is left out where it is not installed.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import io
import json
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import fairlearn.metrics as fair
import numpy as np
import pandas as pd
from sklearn import metrics
from sklearn.model_selection import train_test_split

import automl_admm
from automl_admm.cli.main import main as main_of_program

MEASURED = Path(__file__).parent / "measured" / "fairness_tools.json"
MODELS = (
    *(("adult", "sex", seed) for seed in range(3)),
    *(("compas", "sex", seed) for seed in range(3)),
    *(("german_credit", "sex", seed) for seed in range(2)),
    *(("credit_default", "SEX", seed) for seed in range(2)),
)
ROWS = 3000
BY_GROUP = {
    "accuracy": metrics.accuracy_score,
    "selection_rate": fair.selection_rate,
    "true_positive_rate": fair.true_positive_rate,
    "false_positive_rate": fair.false_positive_rate,
}
LIMITS = {
    "demographic_parity_difference": fair.demographic_parity_difference,
    "demographic_parity_ratio": fair.demographic_parity_ratio,
    "equalized_odds_difference": fair.equalized_odds_difference,
    "equal_opportunity_difference": fair.equal_opportunity_difference,
}
HAS_AIF360 = importlib.util.find_spec("aif360") is not None


def program(*words: object) -> str:
    """Run the command line in this process, and return what it prints."""
    out = io.StringIO()
    try:
        with redirect_stdout(out):
            main_of_program([str(word) for word in words])
    except SystemExit as ended:
        if ended.code:
            raise RuntimeError(f"{words[0]} ended with exit code {ended.code}") from ended
    return out.getvalue()


def compared(data: Path, name: str, column: str, seed: int, place: Path) -> dict[str, Any]:
    """Fit a model, measure it in all ways, and return the largest difference of each."""
    about = json.loads((data / f"{name}.json").read_text())
    frame = pd.read_csv(data / f"{name}.csv", keep_default_na=False, na_values=[""])
    frame = frame.sample(min(ROWS, len(frame)), random_state=seed).reset_index(drop=True)
    target, positive = about["target"], about["positive"]
    learned, fresh = train_test_split(
        frame, test_size=0.4, random_state=seed, stratify=frame[target]
    )
    run, table = place / "run", place / "fresh.csv"
    fresh.to_csv(table, index=False)
    learned.to_csv(place / "learned.csv", index=False)
    limits = [
        word
        for limit in LIMITS
        for bound in (">= 0" if limit.endswith("ratio") else "<= 1",)
        for word in ("--constraint", f"{limit}[{column}] {bound}")
    ]
    program(
        *("fit", place / "learned.csv", "--target", target, "--positive", positive),
        *("--sensitive", column, *limits, "--seed", seed, "--out", run, "-q"),
        *("--max-evaluations", 2, "--executor", "inline", "--on-infeasible", "closest"),
    )
    rates = list(csv.DictReader(io.StringIO(program(
        "report", run, "--data", table, "--group", column, "--csv"
    ))))  # fmt: skip
    measured = {
        one["limit"].partition("[")[0]: one["value"]
        for one in json.loads(program("evaluate", run, table, "--json"))["constraints"]
    }
    predicted = automl_admm.load(run).predict(fresh.drop(columns=target))
    y = (fresh[target].astype(str) == positive).to_numpy(int)
    called = np.array([str(one) == positive for one in predicted], dtype=int)
    groups = fresh[column].astype(str).reset_index(drop=True)
    return {
        "metric_frame": max(_against_metric_frame(rates, y, called, groups)),
        "functions": max(
            abs(measured[limit] - function(y, called, sensitive_features=groups))
            for limit, function in LIMITS.items()
        ),
        "aif360": max(_against_aif360(rates, y, called, groups)) if HAS_AIF360 else None,
        "groups": groups.nunique(),
        "rows": len(fresh),
        "selected": f"{called.mean():.3f}",
    }


def _against_metric_frame(
    rates: list[dict[str, str]], y: Any, called: Any, groups: Any
) -> Iterator[float]:
    made = fair.MetricFrame(metrics=BY_GROUP, y_true=y, y_pred=called, sensitive_features=groups)
    sizes = groups.value_counts()
    for row in rates:
        theirs = {
            "overall": lambda: made.overall,
            "group": lambda row=row: made.by_group.loc[row["group"]],
            "difference": made.difference,
            "ratio": made.ratio,
        }[row["row"]]()
        for name in BY_GROUP:
            if row[name]:
                yield abs(float(row[name]) - float(theirs[name]))
        if row["row"] == "group":
            yield abs(int(row["count"]) - int(sizes[row["group"]]))


def _against_aif360(
    rates: list[dict[str, str]], y: Any, called: Any, groups: Any
) -> Iterator[float]:
    """Compare each group with all others, as AIF360 does, by rates of our table."""
    from aif360.sklearn.metrics import selection_rate

    ours = {row["group"]: row for row in rates if row["row"] == "group"}
    for group in groups.unique():
        inside = (groups == group).to_numpy()
        theirs = selection_rate(y[inside], called[inside])
        yield abs(float(ours[group]["selection_rate"]) - theirs)
        yield from _aif360_pair(ours, y, called, groups, group)


def _aif360_pair(
    ours: dict[str, dict[str, str]], y: Any, called: Any, groups: Any, group: str
) -> Iterator[float]:
    """Compare a group with the largest one."""
    from aif360.sklearn import metrics as aif

    largest = groups.value_counts().index[0]
    if group == largest:
        return
    both = groups.isin([group, largest]).to_numpy()
    index = pd.Index(groups[both], name="group")
    truth, said = pd.Series(y[both], index=index), pd.Series(called[both], index=index)
    given = {"prot_attr": "group", "priv_group": largest}
    for name, function in (
        ("selection_rate", aif.statistical_parity_difference),
        ("true_positive_rate", aif.equal_opportunity_difference),
    ):
        mine = [ours[one][name] for one in (group, largest)]
        if all(mine):
            yield abs(float(mine[0]) - float(mine[1]) - float(function(truth, said, **given)))


def _row(name: str, column: str, seed: int, found: dict[str, Any]) -> list[Any]:
    differences = (found["metric_frame"], found["functions"], found["aif360"])
    told = ["not installed" if one is None else f"{one:.1g}" for one in differences]
    return [name, column, seed, found["groups"], found["rows"], found["selected"], *told]


def main() -> None:
    """Compare all models, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    parser.add_argument("--write", action="store_true", help="write measured/fairness_tools.json")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name, column, seed in MODELS:
        with tempfile.TemporaryDirectory() as place:
            found = compared(given.data, name, column, seed, Path(place))
        rows.append(_row(name, column, seed, found))
        print(*rows[-1], sep="\t", flush=True)
    if given.write:
        columns = [
            *("data", "groups by", "seed", "groups", "rows", "share selected"),
            *("MetricFrame", "fairlearn's functions", "AIF360"),
        ]
        title = "largest difference between our numbers and theirs, of all groups and rates"
        table = {"title": title, "columns": columns, "rows": rows}
        MEASURED.write_text(json.dumps({"tables": {"fairness_tools": table}}, indent=1) + "\n")


if __name__ == "__main__":
    main()
