"""The snippets of docs/reference/encoders.md run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd

from automl_admm import AutoMLClassifier
from automl_admm.builtin.components import encoding
from automl_admm.pipelines import column_routes as routes
from automl_admm.plugin_api import BuildContext
from automl_admm.plugins.records import FEW_LEVELS

PAGE = (Path(__file__).parents[1] / "docs" / "reference" / "encoders.md").read_text(
    encoding="utf-8"
)


def snippet(mark: str) -> str:
    found = re.search(rf"<!-- {mark} -->\n```\w+\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


def test_the_grammar_is_searched(tmp_path: Path) -> None:
    (tmp_path / "mine.lark").write_text(snippet("grammar"), encoding="utf-8")
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"city": [f"city {i}" for i in rng.integers(0, 40, 200)]})
    y = np.where(X["city"].str.len() > 6, "long", "short")
    search = AutoMLClassifier(
        grammar=tmp_path / "mine.lark", cv=2, max_evaluations=3, executor="inline", random_state=0
    ).fit(X, y)
    assert set(search.predict(X)) <= {"long", "short"}


def test_the_encoder_of_ones_own_is_built() -> None:
    known: dict[str, object] = {}
    exec(snippet("run"), known)  # noqa: S102 - what the page shows
    X = pd.DataFrame({"a": [1.0, 2.0], "c": ["x", "y"]})
    context = BuildContext("classification", ("a",), ("c",))
    built = known["mine"].factory({}, context)  # type: ignore[attr-defined]
    assert built.fit_transform(X).tolist() == [[0.0, 1.0], [1.0, 2.0]]


def test_every_encoder_is_on_the_page_with_its_limits() -> None:
    for record in encoding.components():
        assert f"| `{record.name}` |" in PAGE
    said = PAGE.replace("\u202f", " ")
    for number in (FEW_LEVELS, routes.TEXT_COLUMNS, routes.MOST_TAGS, routes.MOST_TARGETS):
        assert re.search(rf"\b{number}\b", said)
