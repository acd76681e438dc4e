"""The file of a study's asks: whole lines alone, on the disk, whatever befalls the writing."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from automl_admm import Parameter, SearchSpace
from automl_admm.core.errors import DiskFullError
from automl_admm.core.space import Candidate, Selection
from automl_admm.runs.study.journal import Ask, Journal, create_journal, read_journal

SPACE = SearchSpace((), (Parameter("x", 0.0, 1.0),))
ASK = Ask(1, 0, Candidate(Selection(()), (0.25,)), "start")


@contextmanager
def _room_for(size: int) -> Iterator[None]:
    """Let this process write files of so many bytes: it is told of more as of a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    found = create_journal(tmp_path / "asks.jsonl")
    found.add(ASK)
    return found


def test_nothing_stays_of_a_line_that_a_full_disk_cut_off(journal: Journal, tmp_path: Path) -> None:
    path, second = tmp_path / "asks.jsonl", replace(ASK, number=2)
    size = path.stat().st_size
    with _room_for(size + 20), pytest.raises(DiskFullError, match="no room left for"):
        journal.add(second)
    assert path.stat().st_size == size
    assert journal.asks == [ASK]
    journal.add(second)
    assert read_journal(path, SPACE).asks == journal.asks == [ASK, second]


def test_a_line_is_on_the_disk_before_add_returns(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(os.fstat(file).st_size))
    journal.add(replace(ASK, number=2))
    assert synced == [(tmp_path / "asks.jsonl").stat().st_size]


def test_a_torn_line_is_cut_off_also_where_the_disk_is_full(
    journal: Journal, tmp_path: Path
) -> None:
    path = tmp_path / "asks.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:9])
    with _room_for(1):
        assert read_journal(path, SPACE).asks == journal.asks
    assert path.read_bytes() == whole
