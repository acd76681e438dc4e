"""The model card of a run: Hugging Face's own reader takes it, and hostile names stay text."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from automl_admm.core.errors import StoreError
from automl_admm.report.model_card import make_card, safe, write_card
from automl_admm.report.shipped import shipped_of
from automl_admm.report.view import read_view
from automl_admm.runs.saved.saved_run import read_saved_run

STORED = Path(__file__).parents[1] / "runs" / "stored_run"
HOSTILE = '---\n<script>alert(1)</script> | `x` [a](b) "q" \x1b[2J\u202e: {é}'


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return Path(shutil.copytree(STORED / "stacked", tmp_path / "RUN"))


def card_of(run: Path, title: str | None = None) -> str:
    view = read_view(run)
    if title is not None:
        view = replace(view, content={**view.content, "title": title})
    model = shipped_of(view)
    assert model is not None
    assert view.manifest is not None
    return make_card(view, model, view.manifest)


def head_of(card: str) -> dict[str, object]:
    """Read the head: each line is a key with JSON behind it."""
    _, head, _ = card.split("---\n", 2)
    pairs = (line.split(": ", 1) for line in head.splitlines())
    return {key: json.loads(value) for key, value in pairs}


def test_the_card_has_the_numbers_of_the_run(run: Path) -> None:
    manifest = json.loads((run / "model.json").read_text())
    said = write_card(read_saved_run(run), str(run.parent / "README.md"))
    card = (run.parent / "README.md").read_text(encoding="utf-8")
    assert said.endswith("model.skops")
    head = head_of(card)
    assert head["pipeline_tag"] == f"tabular-{manifest['task']}"
    (index,) = head["model-index"]
    values = {one["name"]: one["value"] for one in index["results"][0]["metrics"]}
    assert manifest["validation_score"] in values.values()
    for limit in manifest["constraints"]:
        assert safe(limit) in card
    assert safe(manifest["sha256"]) in card
    assert "## Certificate" in card
    assert card == card_of(Path(shutil.move(run, run.parent / "moved")))


@pytest.mark.parametrize("name", ["stacked", "group_thresholds"])
@pytest.mark.parametrize("title", ["people", HOSTILE])
def test_hugging_face_reads_the_card(name: str, title: str) -> None:
    hub = pytest.importorskip("huggingface_hub")
    manifest = json.loads((STORED / name / "model.json").read_text())
    card = hub.ModelCard(card_of(STORED / name, title))
    assert card.data.library_name == "sklearn"
    assert card.data.pipeline_tag == f"tabular-{manifest['task']}"
    results = card.data.eval_results
    assert {one.metric_value for one in results} >= {manifest["validation_score"]}
    assert hub.ModelCard(str(card)).data.to_dict() == card.data.to_dict()


def test_hostile_names_are_neither_markup_nor_metadata(run: Path) -> None:
    card = card_of(run, HOSTILE)
    assert set(head_of(card)) == set(head_of(card_of(run)))
    assert "<script" not in card.split("---\n", 2)[2]
    assert not any(sign in card for sign in "\x1b\u202e")
    assert card.split("---\n", 2)[2].count("\n") == card_of(run).split("---\n", 2)[2].count("\n")


def test_a_run_without_a_model_has_no_card(run: Path) -> None:
    (run / "model.json").unlink()
    (run / "model.skops").unlink()
    content = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({**content, "state": "running"}))
    with pytest.raises(StoreError, match="has saved no model"):
        write_card(read_saved_run(run), str(run.parent / "README.md"))
    assert not (run.parent / "README.md").exists()
