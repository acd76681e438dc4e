"""The studies of the papers by one command: each is there, and one that fails stops no other."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import papers
import pytest
from papers import STUDIES, Study
from study_pages import text_of


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_has_its_page_and_its_script_takes_the_arguments(name: str) -> None:
    study = STUDIES[name]
    script = (papers.HERE / f"{study.script}.py").read_text(encoding="utf-8")
    assert f"benchmarks/{study.script}.py" in text_of(study.page)
    for given in (study.quick, study.full):
        options = [word for word in shlex.split(given) if word.startswith("--")]
        assert [one for one in options if f'"{one}"' not in script] == []


def test_a_small_study_writes_nothing_beside_the_files_of_the_repository() -> None:
    for study in STUDIES.values():
        assert "benchmarks/" not in study.quick
        script = (papers.HERE / f"{study.script}.py").read_text(encoding="utf-8")
        assert "PLOT" not in script or "--plot OUT" in study.quick


def test_data_and_kept_runs_are_where_the_command_line_says(tmp_path: Path) -> None:
    study = Study("s", "p", "--data DATA/hpo --cache OUT/a.jsonl --sets OUTSIDE", "--data DATA")
    quick = study.command(Path("/d"), tmp_path, quick=True)
    assert quick[2:] == ["--data", "/d/hpo", "--cache", f"{tmp_path}/a.jsonl", "--sets", "OUTSIDE"]
    assert study.command(Path("/d"), tmp_path, quick=False)[3] == "/d"


def call(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["papers.py", *map(str, arguments)])
    return papers.main()


def test_a_study_that_fails_is_named_and_the_next_one_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.py").write_text("raise SystemExit(3)")
    (tmp_path / "good.py").write_text("import sys; print('a table', *sys.argv[1:])")
    monkeypatch.setattr(papers, "HERE", tmp_path)
    monkeypatch.setattr(
        papers,
        "STUDIES",
        {"bad": Study("bad", "z_solvers", "", ""), "good": Study("good", "ctpe", "1", "2")},
    )
    out = tmp_path / "kept"
    assert call(monkeypatch, "--quick", "--out", out, "--data", tmp_path) == 1
    said = capfd.readouterr().out
    assert re.search(r"bad +code 3 .* docs/benchmarks/z_solvers\.md", said)
    assert re.search(r"good +well .* docs/benchmarks/ctpe\.md", said)
    assert re.search(r"^all +\d+ +\d+$", said, re.MULTILINE)
    assert (out / "good.txt").read_text() == "a table 1\n"
    assert call(monkeypatch, "good", "--out", out, "--data", tmp_path) == 0
    assert (out / "good.txt").read_text() == "a table 2\n"


def test_a_study_without_its_data_is_named_and_is_no_success(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, "limits", "--out", tmp_path, "--data", tmp_path / "nowhere") == 1
    assert "left out, there is no folder" in capfd.readouterr().out
    with pytest.raises(SystemExit):
        call(monkeypatch, "nonsense")
    with pytest.raises(SystemExit):
        call(monkeypatch)
    said = capfd.readouterr().err
    assert "there is no study nonsense; there are speedup," in said
    assert "name studies to run them in full, or say --quick" in said


def test_the_full_commands_are_listed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, "--list") == 0
    said = capsys.readouterr().out
    for name, study in STUDIES.items():
        assert name in said
        assert f"python benchmarks/{study.script}.py {study.full}" in said
