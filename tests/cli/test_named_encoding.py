"""A file in the encoding that was named for the training file, and a copy of it in UTF-8."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from certified_rows import told

from automl_admm.cli.main import main

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


@pytest.mark.parametrize("broken", [b"", b"\xe9"], ids=["whole", "broken"])
def test_a_run_knows_its_own_file_though_its_encoding_was_named_wrongly(
    broken: bytes, tmp_path: Path, capsys: Any
) -> None:
    own, run = tmp_path / "own.csv", tmp_path / "run"
    own.write_bytes(ROWS.to_csv(index=False).encode() + b"caf" + broken + b",0.5,p\n")
    told(capsys, "fit", own, *FIT, *LIMIT, "--encoding", "latin-1", "--out", run)
    code, said = told(capsys, "verify", run, own)
    assert code == 0, said
    assert "the data agree" in said


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
