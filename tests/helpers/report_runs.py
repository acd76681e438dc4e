"""Run folders for reports, written without a search, and a reader of pages."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.space import Candidate, Selection
from automl_admm.store.file_schemas import RUN_FORMAT
from automl_admm.store.json_content import FORMAT
from automl_admm.store.run_folder import RunFolder
from automl_admm.store.sqlite.log import SqliteStore

COMPONENTS = ("ridge", "tree", "forest")
VOID = {"meta", "br"}


# What a run always notes of its data, and of what its numbers rest on.
DATA: dict[str, Any] = {
    "rows": 10,
    "columns": 2,
    "sha256": "1" * 64,
    "held_out_sha256": None,
    "rows_sum": f"{1:016x}",
    "held_out_rows_sum": None,
    "repeated": [],
}
BASIS = ("rows", "columns", "classes", "splits", "seed", "software", "components", "metric")
OF_THE_TABLE: dict[str, Any] = {
    "schema": [],
    "column_kinds": [],
    "has_gaps": False,
    "ordered_columns": [],
    "components_left_out": {},
    "brought_by": {},
    "basis": dict.fromkeys((*BASIS, "thresholds", "groups", "machine"), "a"),
}


def of_limit(name: str, bound: float, **more: Any) -> dict[str, Any]:
    """Return a limit as `run.json` has it."""
    item = {"name": name, "bound": bound, "at_least": False, "of_baseline": None}
    return {**item, "by_threshold": True, **more}


def an_evaluation(number: int, **changes: Any) -> Evaluation:
    """Return a success, every seventh one a failure: its loss and its limit follow its number."""
    ok = number % 7 != 0
    component = COMPONENTS[number % 3]
    values: dict[str, Any] = {
        "number": number,
        "key": f"key-{number}",
        "candidate": Candidate(Selection((("start.model", component),)), (0.5,)),
        "status": Status.SUCCESS if ok else Status.ERROR,
        "loss": 0.1 + (number * 37 % 101) / 200 if ok else math.nan,
        "constraints": (float(number * 53 % 97),) if ok else (),
        "seconds": 0.5,
        "text": f'impute(strategy="mean") {component}(alpha={number / 10})',
        "message": "" if ok else f"ValueError: row {number} is odd",
        "details": {"scores": [0.5], "steps": {component: 0.1}} if ok else {"trace": "line 1\nend"},
    }
    return Evaluation(**(values | changes))


def write_run(
    path: Path, evaluations: Iterable[Evaluation], *, limit: str = "size_mb", **changes: Any
) -> Path:
    """Write the folder of a killed run with one limit, `size_mb <= 50`."""
    path.mkdir(parents=True)
    folder = RunFolder(path)
    settings = {
        "grammar_text": "start: ridge",
        "space_sha256": "0" * 64,
        "starts": [],
        "metric": "roc_auc",
        "metric_best": 1.0,
        "workers": 2,
        "seed": 0,
        "limits": [of_limit(limit, 50.0)],
        "target": "y",
        "sensitive": [],
        "folds": 1,
        "split": "2 of 10 rows held out",
    }
    content: dict[str, Any] = {
        FORMAT: RUN_FORMAT,
        "state": "running",
        "title": "made up",
        "request": {"looks": None, "extra_plugins": [], "only_python": []},
        "settings": settings,
        "data": {**DATA, **changes.pop("data", {})},
        **OF_THE_TABLE,
        "sessions": [],
    }
    folder.settings.write_text(json.dumps(content | changes))
    with closing(SqliteStore(folder.store, create=True)) as store:
        store.begin_anew(list(evaluations))
    # It names this very process, which lives: a killed run's names a dead one.
    folder.store.with_suffix(".lock").unlink()
    return path


class Page(HTMLParser):
    """A page that was read: its elements, its text; it fails on elements that are not closed."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(source)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        assert len(dict(attrs)) == len(attrs)
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        """All text, the style left out."""
        return " ".join(one for one in self.texts if "color-scheme" not in one)

    def tags(self) -> set[str]:
        """The names of all elements."""
        return {tag for tag, _ in self.elements}
