"""A file in the encoding that was named for the training file, and a copy of it in UTF-8."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from certified_rows import told
from program import run_python

from automl_admm.cli.main import main
from automl_admm.store.json_content import with_digest

CITIES = ("北京", "上海", "广州", "成都")
DRAWN = np.random.default_rng(0)
CITY = DRAWN.choice(CITIES, 240)
ROWS = pd.DataFrame(
    {
        "city": CITY,
        "noise": DRAWN.normal(size=240),
        "y": np.where(np.isin(CITY, CITIES[:2]), "p", "q"),
    }
)
FIT = ("--target", "y", "--max-evaluations", "2", "--grammar", "tiny", "--executor", "inline")
LIMIT = ("--quiet", "--no-ensemble", "--constraint", "error <= 0.5", "--certify", "0.9")
AS_TOLD = {
    "gbk": "gbk as in training",
    "utf-8": "utf-8 (in training gbk)",
    "utf-16": "UTF-16 (in training gbk)",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certified run on a file in GBK, with copies of it in other encodings."""
    place = tmp_path_factory.mktemp("named")
    for name in AS_TOLD:
        ROWS.to_csv(place / f"{name}.csv", index=False, encoding=name)
    words = ("fit", place / "gbk.csv", *FIT, *LIMIT, "--encoding", "gbk", "--out", place / "run")
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    assert ended.value.code == 0
    return place


@pytest.mark.parametrize("name", AS_TOLD)
def test_a_later_file_is_read_as_the_run_was_told_unless_its_bytes_say_more(
    name: str, folder: Path, capsys: Any
) -> None:
    output = folder / "o.csv"
    code, said = told(capsys, "predict", folder / "run", folder / f"{name}.csv", "-o", output)
    assert code == 0, said
    assert f"{name}.csv: {AS_TOLD[name]}" in said
    assert (pd.read_csv(output)["prediction"] == ROWS["y"]).all()


@pytest.mark.parametrize("name", AS_TOLD)
@pytest.mark.parametrize("more", [("evaluate",), ("verify",), ("verify", "--fresh")])
def test_all_commands_know_the_rows(
    name: str, more: tuple[str, ...], folder: Path, capsys: Any
) -> None:
    command, *options = more
    code, said = told(capsys, command, folder / "run", folder / f"{name}.csv", *options)
    assert code == (3 if options else 0), said
    assert AS_TOLD[name] in said


@pytest.fixture(scope="module", params=[b"", b"\xe9"], ids=["whole", "broken"])
def misnamed(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose encoding was named wrongly, with its file and another one."""
    place = tmp_path_factory.mktemp("misnamed")
    new = ROWS.assign(noise=np.random.default_rng(1).normal(size=240))
    for name, rows in (("own", ROWS), ("new", new)):
        path = place / f"{name}.csv"
        path.write_bytes(rows.to_csv(index=False).encode() + b"caf" + request.param + b",0.5,p\n")
    words = ("fit", place / "own.csv", *FIT, *LIMIT, "--encoding", "latin-1")
    with pytest.raises(SystemExit) as ended:
        main([*map(str, words), "--out", str(place / "run")])
    assert ended.value.code == 0
    return place


def forget(run: Path, *keys: str) -> None:
    """Take keys out of a model's request, or of the model itself."""
    for path in (run / "run.json", run / "model.json"):
        content = json.loads(path.read_text("utf-8"))
        for key in keys:
            content.pop(key, None)
            for said in (content, content.get("run", {})):
                said.get("request", {}).pop(key, None)
        path.write_text(json.dumps(with_digest(content)), "utf-8")


KNOWS = {
    ("verify",): (0, "the data agree"),
    ("verify", "--fresh"): (3, "241 of the 241 rows"),
    ("monitor",): (3, "own.csv has the rows of the run"),
    ("evaluate",): (0, "rows that the model learned from"),
}


@pytest.mark.parametrize("words", KNOWS, ids=" ".join)
def test_a_run_knows_its_own_file_though_its_encoding_was_named_wrongly(
    words: tuple[str, ...], misnamed: Path, capsys: Any
) -> None:
    (command, *options), (expected, words_said) = words, KNOWS[words]
    code, said = told(capsys, command, misnamed / "run", misnamed / "own.csv", *options)
    assert code == expected, said
    assert words_said in said
    assert said.count("own.csv: ") == 1
    assert "own.csv: latin-1 as in training" in said


def test_an_encoding_named_later_wins(folder: Path, capsys: Any) -> None:
    words = ("predict", folder / "run", folder / "gbk.csv", "-o", folder / "o.csv")
    code, said = told(capsys, *words, "--encoding", "latin-1")
    assert code == 0, said
    assert "gbk.csv: latin-1\n" in said
    assert "no training row had" in said


@pytest.mark.parametrize("words", [("verify", "--fresh"), ("monitor",)])
def test_rows_that_may_be_in_utf8_are_tested_in_a_named_encoding_alone(
    words: tuple[str, ...], folder: Path, tmp_path: Path, capsys: Any
) -> None:
    command, *options = words
    new = ROWS.assign(city="猫", noise=np.arange(240) / 7)
    new.to_csv(tmp_path / "new.csv", index=False, encoding="gbk")
    given = (command, folder / "run", tmp_path / "new.csv", *options)
    code, said = told(capsys, *given)
    assert code == 3, said
    assert "--encoding gbk or --encoding utf-8" in said
    code, said = told(capsys, *given, "--encoding", "gbk")
    assert "new.csv: gbk" in said
    assert code in (0, 6), said


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("漢字,0.5\n".encode("gbk") + b"\xff,0.5\n", "line 3: this is no text in gbk"),
        ("Ärger,0.5\n".encode() + b"\xff,0.5\n", "UTF-8 text for the most part, but not in line 3"),
    ],
    ids=["gbk", "utf-8"],
)
def test_text_that_is_neither_is_refused(
    text: bytes, line: str, folder: Path, tmp_path: Path, capsys: Any
) -> None:
    (tmp_path / "new.csv").write_bytes(b"city,noise\n" + text)
    code, said = told(capsys, "predict", folder / "run", tmp_path / "new.csv")
    assert code == 3
    assert line in said


def test_the_script_of_a_run_named_wrongly_reads_new_rows_as_predict_does(
    misnamed: Path, tmp_path: Path, capsys: Any
) -> None:
    run, new = misnamed / "run", misnamed / "new.csv"
    code, said = told(capsys, "predict", run, new, "-o", tmp_path / "predicted.csv")
    assert code == 0, said
    script = (run / "pipeline.py", misnamed / "own.csv", new, tmp_path / "by_script.csv")
    assert run_python(*script).returncode == 0
    for name in ("predicted", "by_script"):
        found = pd.read_csv(tmp_path / f"{name}.csv")["prediction"]
        assert found[:240].tolist() == ROWS["y"].tolist()


def test_where_nothing_tells_verify_knows_both_and_asks_about_fresh_rows(
    misnamed: Path, tmp_path: Path, capsys: Any
) -> None:
    run, own = tmp_path / "run", misnamed / "own.csv"
    shutil.copytree(misnamed / "run", run)
    forget(run, "found_encoding", "levels")
    code, said = told(capsys, "verify", run, own)
    assert code == 0, said
    assert said.count("own.csv: ") == 1
    code, said = told(capsys, "verify", "--fresh", run, own)
    assert code == 3
    assert "--encoding" in said or "UTF-8 text for the most part" in said
    code, said = told(capsys, "verify", "--fresh", run, own, "--encoding", "latin-1")
    assert "rows of the run: they are not fresh" in said


def test_verify_asks_for_the_encoding_of_a_stream_that_may_be_either(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read as UTF-8, the run's own file was told to be other rows."""
    own, run = tmp_path / "own.csv", tmp_path / "run"
    city = np.where(ROWS["y"] == "p", "Ulm", "Bonn")
    city[:2] = "Köln"
    ROWS.assign(city=city).to_csv(own, index=False)
    told(capsys, "fit", own, *FIT, *LIMIT, "--encoding", "cp1251", "--out", run)
    assert told(capsys, "verify", run, own)[0] == 0
    monkeypatch.setattr("automl_admm.cli.commands.verify.is_stream", lambda _: True)
    code, said = told(capsys, "verify", run, own)
    assert (code, "--encoding cp1251 or --encoding utf-8" in said) == (3, True), said
    assert told(capsys, "verify", run, own, "--encoding", "cp1251")[0] == 0


def test_fit_says_that_its_file_looks_like_another_encoding(tmp_path: Path, capsys: Any) -> None:
    own = tmp_path / "own.csv"
    for city, is_told in (("Köln", True), ("Ulm", False)):
        ROWS.assign(city=city).to_csv(own, index=False)
        words = ("fit", own, *FIT, "--quiet", "--encoding", "latin-1", "--dry-run")
        _, said = told(capsys, *words)
        assert ("latin-1, though its bytes look like UTF-8" in said) == is_told, said


def test_resume_says_that_another_file_looks_like_another_encoding(
    tmp_path: Path, capsys: Any
) -> None:
    own, copy, run = tmp_path / "own.csv", tmp_path / "copy.csv", tmp_path / "run"
    for path, encoding in ((own, "latin-1"), (copy, "utf-8")):
        ROWS.assign(city="Köln").to_csv(path, index=False, encoding=encoding)
    code, said = told(capsys, "fit", own, *FIT, "--quiet", "--encoding", "latin-1", "--out", run)
    assert code == 0, said
    words = ("resume", run, copy, "--allow-changed", "--max-evaluations", "+1", "--quiet")
    code, said = told(capsys, *words)
    assert code == 0, said
    assert "copy.csv: latin-1, though its bytes look like UTF-8" in said
