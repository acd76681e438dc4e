"""`automl-admm export RUN --to modelcard:FILE`: a model card in the form of Hugging Face.

Its head is YAML, a key a line; what stands behind a key is JSON, and so YAML, too.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

from automl_admm.certify.claims import explain
from automl_admm.core.errors import StoreError
from automl_admm.core.run import SavedRun
from automl_admm.plugins.loading import OURS
from automl_admm.progress.visible_text import in_a_line
from automl_admm.report.document import numbers
from automl_admm.report.exported import view_of
from automl_admm.report.sections import limits as limits_section
from automl_admm.report.sections import verdict as verdict_section
from automl_admm.report.shipped import Shipped, shipped_of
from automl_admm.report.view import RunView
from automl_admm.runs.finish.decision_summary import say_undecided
from automl_admm.runs.finish.model_notes import behind_model
from automl_admm.runs.session.model_run import say_earlier
from automl_admm.store.output_files import write_output

# With a backslash before it each of these signs is no markup.
# All others stand as they are, for a card is read as a file, too: a hyphen is markup only at the
# begin of a line, a colon or a dot only in an address that would become a link.
PUNCTUATION = re.compile(r"([$*@\[\\\]_`|~]|^[-+#=]|:(?=//)|(?<=www)\.)", re.IGNORECASE)
NOTHING = "–"
PACKAGE = "automl_admm"
USE = """\
```python
import automl_admm

model = automl_admm.load("RUN")
model.predict(frame)
```
"""


def write_card(run: SavedRun, target: str) -> str:
    """Write the model card of a run, and return a line about it."""
    view = view_of(run)
    model = shipped_of(view)
    if view.earlier_model:
        raise StoreError(
            f"{say_earlier(view.earlier_model)}, and a card would be of this session.",
            hint="`automl-admm resume` goes on to a model of its own.",
        )
    if model is None or view.manifest is None:
        raise StoreError(
            f"the run in '{view.folder.path}' has saved no model, so there is nothing to describe."
        )
    write_output(Path(target), make_card(view, model, view.manifest).encode())
    return f"{target}: the card of {view.folder.model}"


def make_card(view: RunView, model: Shipped, manifest: Mapping[str, Any]) -> str:
    """Return the card as text."""
    facts = _head(view, model, manifest)
    head = "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in facts)
    return f"---\n{head}---\n\n" + "\n".join(_body(view, model, manifest)) + "\n"


def _head(view: RunView, model: Shipped, manifest: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    task = f"tabular-{manifest['task']}"
    yield "library_name", "sklearn"
    yield "pipeline_tag", task
    yield "tags", ["sklearn", "skops", task, "automl-admm"]
    yield "model_format", "skops"
    yield "model_file", view.folder.model.name
    metric = in_a_line(view.metric)
    yield "metrics", [metric]
    measured = [
        {"type": metric, "value": value, "name": f"{metric}, {where}"}
        for value, where in (
            (model.held_out_score, "rows held out"),
            (model.validation_score, "validation rows, which chose the model"),
        )
        if value is not None
    ]
    data = {"type": "tabular", "name": in_a_line(view.title)}
    result = {"task": {"type": task}, "dataset": data, "metrics": measured}
    yield "model-index", [{"name": in_a_line(view.title), "results": [result]}] if measured else []


def safe(text: object) -> str:
    """Return a name as Markdown shows it: no sign of it is markup.

    >>> safe("<i>")
    '&lt;i&gt;'
    >>> safe("Certified: fpr at 0.05, of roc-auc")
    'Certified: fpr at 0.05, of roc-auc'
    """
    parts = re.split(r"([&<>])", in_a_line(text))
    return "".join(
        escape(part) if part in ("&", "<", ">") else PUNCTUATION.sub(r"\\\1", part)
        for part in parts
    )


def _body(view: RunView, model: Shipped, manifest: Mapping[str, Any]) -> Iterator[str]:
    yield f"# {safe(view.title)}\n"
    verdict = verdict_section.measure(view)
    yield f"{safe(verdict.sentence)}\n"
    yield from (f"**Warning:** {safe(one)}\n" for one in verdict.warnings)
    yield from _of_model(view, model, manifest)
    yield from _of_limits(view)
    yield from _of_certificate(view)
    yield from _of_data(view, manifest)
    yield from _of_use(view, manifest)
    yield "## What is not known\n"
    yield (
        "The numbers speak of data like those of the search: not of another time, place or "
        "population, not of groups that no limit names, and not of a single row. The search does "
        "not know what the labels mean, or whether they were fair.\n"
    )


def _of_model(view: RunView, model: Shipped, manifest: Mapping[str, Any]) -> Iterator[str]:
    yield "## Model\n"
    libraries = ", ".join(["scikit-learn", *behind_model(manifest)])
    yield f"The pipeline, found by automl-admm and fitted with {safe(libraries)}:\n"
    yield f"    {in_a_line(model.text)}\n"
    yield "| | |\n| --- | --- |"
    yield f"| {safe(view.metric)} on validation rows | {numbers.score(model.validation_score)} |"
    if model.held_out_score is not None:
        rows = f"{model.held_out_rows} rows held out"
        yield f"| {safe(view.metric)} on {rows} | {numbers.score(model.held_out_score)} |"
    if manifest.get("positive") is not None:
        yield f"| positive class | {safe(manifest['positive'])} |"
    if (undecided := say_undecided(manifest)) is not None:
        yield f"| leaves undecided | {safe(undecided)} |"
    versions = ", ".join(f"{name} {one}" for name, one in manifest["versions"].items())
    yield f"| versions | {safe(versions)} |"
    yield f"| SHA-256 of the model | {safe(manifest['sha256'])} |\n"


def _of_limits(view: RunView) -> Iterator[str]:
    found = limits_section.measure(view)
    yield "## Limits\n"
    if not found.limits:
        yield "The search had no limits.\n"
        return
    yield "| limit | on validation rows | on rows held out | proven |\n| --- | --- | --- | --- |"
    for one in found.limits:
        proof = NOTHING if one.proof is None else one.proof.verdict
        if one.proof is not None and one.proof.is_approximate:
            proof += " (approximate)"
        values = (
            _held(one.value, one.holds, limits_section.say_value(one)),
            _held(one.held_out, one.holds_held_out, numbers.plain(one.held_out)),
        )
        yield f"| {safe(one.limit)} | {' | '.join(values)} | {proof} |"
    yield ""


def _held(value: float | None, is_held: bool | None, told: str) -> str:  # noqa: FBT001 - a fact
    if value is None:
        return NOTHING
    return f"{told}{'' if is_held else ', **broken**'}"


def _of_certificate(view: RunView) -> Iterator[str]:
    if view.certificate is None:
        return
    yield "## Certificate\n"
    yield from (f"- {safe(line)}" for line in explain(view.certificate).splitlines())
    yield ""


def _of_data(view: RunView, manifest: Mapping[str, Any]) -> Iterator[str]:
    yield "## Data\n"
    columns = ", ".join(safe(column) for column in manifest["columns"])
    target = safe(view.settings.get("target") or "a column without a name")
    rows = f"{manifest['rows']} rows of {safe(view.title)}"
    yield f"{rows}, to predict {target} from: {columns}.\n"
    kept = view.settings["sensitive"]
    if kept:
        yield f"Not given to the model, for limits alone: {', '.join(map(safe, kept))}.\n"


def _of_use(view: RunView, manifest: Mapping[str, Any]) -> Iterator[str]:
    yield "## Use\n"
    yield "With the folder of the run:\n"
    yield USE
    if say_undecided(manifest) is not None:
        yield "A row that the model leaves undecided has the prediction `None`.\n"
    needed, file = list(behind_model(manifest)), safe(view.folder.model.name)
    is_ours = any(package.startswith(PACKAGE) for package in _packages(manifest))
    alone = "" if is_ours else "Without this package, "
    needs = [OURS, *needed] if is_ours else needed
    place = f" where these are installed: {safe(', '.join(needs))}" if needs else ""
    yield f"{alone}{file} is read by skops{place}.\n"


def _packages(manifest: Mapping[str, Any]) -> set[str]:
    """Return the packages of the types in the model, other than those of every model."""
    tops = {one.partition(".")[0] for one in manifest.get("trusted_types", ())}
    return tops - {"numpy", "pandas", "scipy", "sklearn"} - sys.stdlib_module_names
