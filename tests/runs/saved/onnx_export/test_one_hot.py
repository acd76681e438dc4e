"""One-hot encoders in ONNX: a new text, a gap and a rare level, as the model takes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from automl_admm.core.errors import ConfigurationError
from automl_admm.pipelines.column_routes import numbered, one_hot
from automl_admm.runs.saved.onnx_export.file import OnnxModel, convert

ROWS = 120
CITIES = ["Ulm", "Ulm", "Ulm", "Bonn", "Bonn", "Bonn", "Kiel", "Kiel", "Jena", "Gera"]


def table(*, with_gaps: bool) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=ROWS), "city": rng.choice(CITIES, ROWS)})
    frame["size"] = rng.choice(["S", "M"], ROWS)
    frame["paid"] = pd.Series(rng.choice([True, False], ROWS), dtype=object)
    if with_gaps:
        frame.loc[::4, "city"] = np.nan
        frame.loc[::5, "paid"] = np.nan
    return frame


def pipeline(columns: list[str], most: int, model: Any) -> Any:
    routes = [(encoder, names) for _, encoder, names in one_hot(columns, most)]
    return make_pipeline(make_column_transformer(*routes, remainder="passthrough"), model)


def fitted(rows: pd.DataFrame, columns: list[str], most: int, model: Any) -> Any:
    worth = rows["a"] + 2.0 * (rows["city"] == "Ulm") - 3.0 * rows["city"].isna()
    worth += 1.5 * (rows["paid"] == True)  # noqa: E712 - gaps are not False here
    target = worth.to_numpy()
    if isinstance(model, LogisticRegression):
        target = np.where(target > np.median(target), "yes", "no")
    return pipeline(columns, most, model).fit(rows[["a", *columns]], target)


def answers(written: OnnxModel, rows: pd.DataFrame) -> list[Any]:
    """Ask a session as a user does: an empty text for a gap, a truth value as its name."""
    import onnxruntime

    kinds = {"text": object, "float64": np.float64, "float32": np.float32}
    told = rows.astype(object).where(rows.notna(), "")
    texts = [name for name, kind in written.inputs.items() if kind == "text"]
    told[texts] = told[texts].map(str)
    feeds = {name: told[[name]].to_numpy(kinds[kind]) for name, kind in written.inputs.items()}
    return list(onnxruntime.InferenceSession(written.content).run(None, feeds))


def unseen(rows: pd.DataFrame) -> pd.DataFrame:
    cities = ["Rom", np.nan, "nan", "infrequent_sklearn", "Gera", "Ulm"]
    changed = rows.assign(city=np.resize(np.array(cities, dtype=object), ROWS))
    changed["size"] = np.resize(np.array(["XL", "S", np.nan, "M"], dtype=object), ROWS)
    changed["paid"] = np.resize(np.array([True, np.nan, False], dtype=object), ROWS)
    return changed


@pytest.mark.parametrize("with_gaps", [False, True])
@pytest.mark.parametrize("columns", [["city"], ["city", "size", "paid"]])
@pytest.mark.parametrize("most", [2, 4, 32])
@pytest.mark.parametrize("model", [LogisticRegression(), Ridge()])
def test_a_session_takes_new_texts_and_gaps_as_the_model(
    model: Any, most: int, columns: list[str], with_gaps: bool
) -> None:
    rows = table(with_gaps=with_gaps)
    fit = fitted(rows, columns, most, model)
    written = convert(fit, rows[["a", *columns]], {})
    other = unseen(rows)[["a", *columns]]
    found, told = answers(written, other), fit.predict(other)
    if isinstance(model, Ridge):
        assert found[0].ravel() == pytest.approx(told, abs=1e-4)
        return
    assert found[0].tolist() == told.tolist()
    assert found[1] == pytest.approx(fit.predict_proba(other), abs=1e-4)


def test_a_truth_value_in_another_spelling_fails_in_a_session() -> None:
    rows = table(with_gaps=True)
    written = convert(fitted(rows, ["city", "paid"], 32, Ridge()), rows[["a", "city", "paid"]], {})
    with pytest.raises(Exception, match="Unknown Category"):
        answers(written, rows.assign(paid="true")[["a", "city", "paid"]])


def test_a_gap_beside_an_empty_text_is_refused() -> None:
    rows = table(with_gaps=True)
    rows.loc[1, "city"] = ""
    with pytest.raises(ConfigurationError, match="cannot be written as ONNX"):
        convert(fitted(rows, ["city"], 32, Ridge()), rows[["a", "city"]], {})


def test_another_answer_for_a_gap_is_found_at_export() -> None:
    frame = table(with_gaps=True)[["a", "city"]]
    # It numbers a gap otherwise than a new text; to a session both are texts that it has not.
    steps = [(encoder, names) for _, encoder, names in numbered(["city"])]
    model = make_pipeline(make_column_transformer(*steps, remainder="passthrough"), Ridge())
    model.fit(frame, frame["a"] - 3.0 * frame["city"].isna())
    with pytest.raises(ConfigurationError) as caught:
        convert(model, frame[frame["city"].notna()], {})
    assert str(caught.value) == (
        "for a gap in 'city' the model in ONNX does not predict as the model does. "
        'Fit with --column "city=drop", or use pipeline.py of the run.'
    )


def test_an_end_of_the_batch_at_a_new_text_is_found_at_export(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("automl_admm.runs.saved.onnx_export.graph.of_one_hot", lambda **_: {})
    frame = table(with_gaps=False)
    with pytest.raises(ConfigurationError, match="for a text that training did not have in 'city'"):
        convert(fitted(frame, ["city"], 32, Ridge()), frame[["a", "city"]], {})


def test_a_model_that_itself_refuses_new_texts_is_kept() -> None:
    frame = table(with_gaps=False)[["a", "city"]]
    steps = make_column_transformer((OneHotEncoder(), ["city"]), remainder="passthrough")
    model = make_pipeline(steps, Ridge()).fit(frame, frame["a"])
    assert convert(model, frame, {}).rows == ROWS
