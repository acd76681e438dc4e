"""The model: its pipeline as a diagram, its parameters, and its code."""

from __future__ import annotations

from dataclasses import dataclass

from automl_admm.core.messages import shorten
from automl_admm.core.space import Value
from automl_admm.grammar.text.parser import Row, WrittenBranches, WrittenStep
from automl_admm.pipelines.thresholds.by_group import name_thresholds
from automl_admm.report.document import numbers
from automl_admm.report.document.html import Markup, block_of_code, name, tag, together
from automl_admm.report.document.tables import facts, folded, table
from automl_admm.report.pipeline_text import read_pipeline, steps_in
from automl_admm.report.sections.section import Section
from automl_admm.report.shipped import shipped_of
from automl_admm.report.view import RunView
from automl_admm.runs.finish.noted_thresholds import read_thresholds

# A script with long tables of levels would make the page large; it stands in the folder anyway.
LONGEST_SCRIPT = 40_000
KINDS = {
    "union": "side by side",
    "stack": "predictions as features",
    "by_type": "by type of column",
}


@dataclass(frozen=True, slots=True)
class StepShown:
    """One component of a pipeline, with its parameters."""

    component: str
    parameters: dict[str, Value]


@dataclass(frozen=True, slots=True)
class Piece:
    """One pipeline of the model; a single pipeline has the share 1."""

    number: int | None
    share: float
    score: float | None
    text: str
    steps: tuple[StepShown, ...]


@dataclass(frozen=True, slots=True)
class Winner:
    """The pipelines of the model, and the script that fits it without this package."""

    folder: str
    is_shipped: bool
    fallback: str | None
    metric: str
    pieces: tuple[Piece, ...]
    threshold: float | str | None
    group_thresholds: dict[str, float | str]
    script: str | None


def measure(view: RunView) -> Winner:
    """Read the pipelines of the model from their texts."""
    model = shipped_of(view)
    pieces: tuple[Piece, ...] = ()
    if model is not None and model.members:
        pieces = tuple(
            Piece(one.number, one.share, one.validation_score, one.text, _steps(one.text))
            for one in model.members
        )
    elif model is not None:
        score = model.validation_score
        pieces = (Piece(model.number, 1.0, score, model.text, _steps(model.text)),)
    script = view.script if model is not None and model.is_shipped else None
    manifest = view.manifest or {}
    return Winner(
        folder=str(view.folder.path),
        is_shipped=model is not None and model.is_shipped,
        fallback=None if model is None else model.fallback,
        metric=view.metric,
        pieces=pieces,
        threshold=manifest.get("threshold"),
        group_thresholds=dict(manifest.get("group_thresholds") or {}),
        script=script,
    )


def _steps(text: str) -> tuple[StepShown, ...]:
    steps = steps_in(text)
    return tuple(StepShown(s.component, {a.name: a.value for a in s.arguments}) for s in steps)


def draw(found: Winner) -> Markup:
    """Draw each pipeline as boxes along the flow of the data, then the code."""
    if not found.pieces:
        return tag("p", "There is no pipeline yet.")
    drawn = (_piece(found, one) for one in found.pieces)
    return together(*drawn, _decision(found), _code(found))


def _piece(found: Winner, piece: Piece) -> Markup:
    row, title = read_pipeline(piece.text), None
    if len(found.pieces) > 1:
        scored = f"{found.metric} {numbers.score(piece.score)}"
        title = tag("h3", f"{numbers.share(piece.share)} of the vote: #{piece.number}, {scored}")
    diagram = tag("p", name(piece.text)) if row is None else _diagram(row)
    rows = [
        (name(step.component), name(parameter), _value(value))
        for step in piece.steps
        for parameter, value in step.parameters.items()
    ]
    listed = table(("Step", "Parameter", "Value"), rows, text_columns=2)
    behind = folded("Parameters", listed) if rows else None
    return together(title, diagram, behind, folded("As text", block_of_code(piece.text)))


def _value(value: Value) -> Markup:
    return name(shorten(str(value), 200)) if isinstance(value, str) else tag("span", str(value))


def _diagram(row: Row) -> Markup:
    data = tag("span", "columns", class_="end")
    answer = tag("span", "prediction", class_="end")
    return tag("div", data, *_flow(row), _arrow(), answer, class_="flow")


def _flow(row: Row) -> list[Markup]:
    drawn = []
    for item in row.items:
        drawn += [_arrow(), _item(item)]
    return drawn


def _item(item: WrittenStep | WrittenBranches) -> Markup:
    if isinstance(item, WrittenStep):
        return tag("span", name(item.component, 60), class_="step")
    lanes = (
        tag("div", *(_flow(part)[1:] or [tag("span", "none", class_="end")]), class_="flow")
        for part in item.parts
    )
    kind = tag("span", KINDS.get(item.kind, item.kind), class_="kind")
    return tag("div", kind, *lanes, class_="branches")


def _arrow() -> Markup:
    return tag("span", "→", class_="arrow")


def _decision(found: Winner) -> Markup | None:
    threshold = found.threshold
    if threshold is None:
        return None
    shipped = {"threshold": threshold, "group_thresholds": found.group_thresholds}
    if by_group := name_thresholds(read_thresholds(shipped)):
        return facts([("Decides for the positive class by group", name(by_group))])
    if isinstance(threshold, str):
        return facts([("Decides for the positive class", threshold)])
    return facts(
        [("Decides for the positive class from", f"a score of {numbers.plain(threshold)}")]
    )


def _code(found: Winner) -> Markup:
    if not found.is_shipped:
        return tag("p", "No model has been saved yet, so there is no code to load it.")
    load = f"from automl_admm import load\n\nmodel = load({found.folder!r})\nmodel.predict(frame)\n"
    parts = [tag("h3", "As code"), block_of_code(load)]
    if found.script is not None and len(found.script) <= LONGEST_SCRIPT:
        title = "pipeline.py: the same pipeline as a script; its head names what it needs"
        parts.append(folded(title, block_of_code(found.script)))
    elif found.script is not None:
        parts.append(tag("p", "pipeline.py in the folder is too long to be shown here."))
    return together(*parts)


SECTION = Section("winner", "The model", Winner, measure, draw)
