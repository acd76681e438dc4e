"""Files that are cut, flipped, missing or not ours: found out, left alone, and repaired.

There is never another value than was written, and never a fresh start in place of what was lost.
"""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from automl_admm.core.errors import StoreError
from automl_admm.core.evaluations import Evaluation
from automl_admm.store.files import partial_name
from automl_admm.store.rescue.checking import check
from automl_admm.store.rescue.repair import Repaired, repair
from automl_admm.store.sqlite.log import SqliteStore
from automl_admm.store.sqlite.rows import COLUMNS, digest
from automl_admm.store.sqlite.schema import SELECT

Make = Callable[..., Path]
Seen = Callable[[str], None]
PLACES = 1200
WRITTEN_TO = 30
REPAIRED = 25
ROWS = 60
# On several pages, and fewer bytes for as many flips.
FEW = 30
MANY = 300


def read(path: Path, **mode: bool) -> list[Evaluation]:
    with closing(SqliteStore(path, **mode)) as store:
        return list(store.read())


def go_on(path: Path, one: Evaluation) -> None:
    with closing(SqliteStore(path, write=True)) as store:
        store.append(one)


def contents(folder: Path) -> dict[str, bytes]:
    """All but what says how to find pages in the log: SQLite makes that anew."""
    files = (file for file in folder.iterdir() if not file.name.endswith("-shm"))
    return {file.name: file.read_bytes() for file in files}


def restore(folder: Path, files: dict[str, bytes]) -> None:
    for file in folder.iterdir():
        file.unlink()
    for name, content in files.items():
        (folder / name).write_bytes(content)


def flips(files: dict[str, bytes], count: int) -> Iterator[tuple[str, bytes]]:
    """A file with one byte that is another, at places all over the store and what is beside it."""
    rng = random.Random(5)  # noqa: S311 - not for a secret
    names = [name for name in files if name != "store.bak"]
    lengths = [len(files[name]) for name in names]
    for _ in range(count):
        (name,) = rng.choices(names, lengths)
        content = bytearray(files[name])
        content[rng.randrange(len(content))] ^= rng.choice([1 << rng.randrange(8), 0xFF])
        yield name, bytes(content)


@pytest.mark.fault(
    "F32", injected="one byte flipped, 1 200 places, -wal", expected="found out, or nothing changed"
)
@pytest.mark.parametrize("state", ["closed", "killed"])
def test_a_byte_that_is_another_is_found_out_or_does_not_matter(
    state: str, request: pytest.FixtureRequest, evaluation: Callable[..., Evaluation], seen: Seen
) -> None:
    path = request.getfixturevalue(state)(FEW)
    written = [evaluation(number) for number in range(1, FEW + 1)]
    files = contents(path.parent)
    outcomes: Counter[str] = Counter()
    for place, (name, content) in enumerate(flips(files, PLACES)):
        restore(path.parent, files | {name: content})
        try:
            assert read(path) == written
            outcomes["harmless"] += 1
        except StoreError:
            outcomes["found out"] += 1
            assert (path.parent / name).read_bytes() == content
        if place < WRITTEN_TO:
            try:
                go_on(path, evaluation(FEW + 1))
                assert read(path) == [*written, evaluation(FEW + 1)]
            except StoreError:
                outcomes["refused"] += 1
    assert set(outcomes) == {"harmless", "found out", "refused"}
    seen(f"{state}: {outcomes['found out']} found out, {outcomes['harmless']} harmless")


@pytest.mark.fault(
    "F32", injected="cut to 0, 10, 50, 99 %", expected="exit 7, untouched; repair saves all of .bak"
)
@pytest.mark.parametrize("percent", [0, 10, 50, 99])
def test_a_store_that_is_cut_short_is_refused_and_repaired(
    percent: int, closed: Make, evaluation: Callable[..., Evaluation], seen: Seen
) -> None:
    path = closed(ROWS)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) * percent // 100])
    refused_untouched(path)
    assert repaired(path) == Repaired(ROWS, 0, (path.with_name("store.damaged-1.sqlite"),))
    assert read(path) == [evaluation(number) for number in range(1, ROWS + 1)]
    seen(f"{percent} %: exit 7, {len(read(path))} of {ROWS} saved")


def refused_untouched(path: Path) -> None:
    before = contents(path.parent)
    for mode in ({}, {"write": True}, {"create": True}):
        with pytest.raises(StoreError) as caught:
            read(path, **mode)
        assert caught.value.exit_code == 7
    assert check(path).problems
    after = contents(path.parent)
    del before["store.lock"], after["store.lock"]
    assert {name: after[name] for name in before} == before


def repaired(path: Path) -> Repaired:
    """What a repair did; the damaged file is there as it was, and the new store is in order."""
    damaged = path.read_bytes()
    result = repair(path)
    assert result is not None
    assert result.kept[0].read_bytes() == damaged
    assert check(path).problems == ()
    assert repair(path) is None
    return result


@pytest.mark.fault(
    "F32", injected="cut to 50, 99 %, no backup", expected="the rows that are whole are saved"
)
@pytest.mark.parametrize(("percent", "least"), [(50, MANY // 4), (99, MANY // 2)])
def test_without_a_backup_the_rows_that_are_whole_are_saved(
    percent: int, least: int, closed: Make, evaluation: Callable[..., Evaluation], seen: Seen
) -> None:
    path = closed(MANY)
    path.with_suffix(".bak").unlink()
    content = path.read_bytes()
    path.write_bytes(content[: len(content) * percent // 100])
    result = repaired(path)
    assert result.saved >= least
    assert result.saved + (result.lost or 0) == MANY
    saved = read(path)
    assert len(saved) == result.saved
    assert all(one == evaluation(one.number) for one in saved)
    seen(f"{percent} %: {result.saved} saved, {result.lost} lost")


@pytest.mark.fault(
    "F32", injected="cut to 0, 10 %, no backup", expected="exit 7: nothing can be saved, untouched"
)
@pytest.mark.parametrize("percent", [0, 10])
def test_where_nothing_can_be_saved_nothing_is_changed(
    percent: int, closed: Make, seen: Seen
) -> None:
    path = closed(ROWS)
    path.with_suffix(".bak").unlink()
    content = path.read_bytes()
    path.write_bytes(content[: len(content) * percent // 100])
    before = contents(path.parent)
    with pytest.raises(StoreError, match="not one evaluation of"):
        repair(path)
    after = contents(path.parent)
    del before["store.lock"], after["store.lock"]
    assert after == before
    seen(f"{percent} %: not one evaluation can be saved, nothing changed")


@pytest.mark.fault(
    "F32", injected="one byte flipped, no backup", expected="repair loses the few rows it hit"
)
@pytest.mark.parametrize("state", ["closed", "killed"])
def test_a_flipped_byte_costs_few_rows_even_without_a_backup(
    state: str, request: pytest.FixtureRequest, evaluation: Callable[..., Evaluation], seen: Seen
) -> None:
    path = request.getfixturevalue(state)(ROWS)
    path.with_suffix(".bak").unlink(missing_ok=True)
    files = contents(path.parent)
    damaged = 0
    for name, content in flips(files, REPAIRED):
        restore(path.parent, files | {name: content})
        if not check(path).problems:
            continue
        damaged += 1
        result = repaired(path)
        assert result.saved + (result.lost or 0) == ROWS
        assert all(one == evaluation(one.number) for one in read(path))
        assert result.saved >= ROWS // 2
        go_on(path, evaluation(ROWS + 1))
    assert damaged > REPAIRED // 4
    seen(f"{state}: {damaged} of {REPAIRED} needed repair, each kept half or more")


@pytest.mark.fault("F32", injected="the -wal deleted after kill -9", expected="exit 7, counted")
def test_a_log_that_is_gone_is_found_out(killed: Make, evaluation, seen: Seen) -> None:
    path = killed(7)
    assert len(read(path)) == 7
    path.with_name("store.sqlite-wal").unlink()
    path.with_name("store.sqlite-shm").unlink()
    with pytest.raises(StoreError, match="it holds 0 evaluations of 7"):
        read(path)
    refused_untouched(path)
    with pytest.raises(StoreError, match="not one evaluation of"):
        repair(path)
    seen("exit 7: it holds 0 evaluations of 7")


@pytest.mark.fault(
    "F32", injected="the -wal of a resumed run deleted", expected="repair says how many are lost"
)
def test_what_was_only_in_a_lost_log_is_counted_as_lost(
    closed: Make, writer: Callable[..., object], evaluation: Callable[..., Evaluation], seen: Seen
) -> None:
    path = closed(5)
    writer(path, 9, first=6, mode="write")
    path.with_name("store.sqlite-wal").unlink()
    path.with_name("store.sqlite-shm").unlink()
    result = repaired(path)
    assert (result.saved, result.lost) == (5, 4)
    assert read(path) == [evaluation(number) for number in range(1, 6)]
    seen(f"{result.saved} saved, {result.lost} lost")


@pytest.mark.fault("F32", injected="a file of any bytes", expected="exit 7; repair uses .bak")
def test_any_bytes_are_no_store(closed: Make, seen: Seen) -> None:
    path = closed(ROWS)
    path.write_bytes(bytes(range(7, 256)) * 200)
    refused_untouched(path)
    assert repaired(path).saved == ROWS
    seen(f"exit 7; {len(read(path))} of {ROWS} saved")


@pytest.mark.fault(
    "F32", injected="the store of another run", expected="exit 7; repair takes no row of it"
)
def test_a_store_of_another_run_is_refused(
    closed: Make, tmp_path: Path, evaluation, seen: Seen
) -> None:
    path = closed(3)
    other = tmp_path / "store.sqlite"
    with closing(SqliteStore(other, create=True)) as store:
        for number in range(1, 9):
            store.append(evaluation(number, loss=9.0))
    shutil.copy(other, path)
    refused_untouched(path)
    assert repaired(path).saved == 3
    assert read(path) == [evaluation(number) for number in range(1, 4)]
    seen(f"exit 7; {len(read(path))} of 3 saved, none of the other run")


@pytest.mark.faults
@pytest.mark.parametrize("content", [None, b"", b"{", b'{"run": 1}'])
def test_a_manifest_that_is_gone_or_damaged_is_made_anew(
    content: bytes | None, closed: Make, evaluation: Callable[..., Evaluation]
) -> None:
    path = closed(4)
    if content is None:
        path.with_suffix(".json").unlink()
    else:
        path.with_suffix(".json").write_bytes(content)
    refused_untouched(path)
    assert (repaired(path).saved, read(path)[3]) == (4, evaluation(4))


@pytest.mark.faults
def test_a_damaged_backup_is_found_out_and_replaced(closed: Make) -> None:
    path = closed(4)
    backup = path.with_suffix(".bak")
    backup.write_bytes(backup.read_bytes()[:5000])
    assert any("store.bak" in problem for problem in check(path).problems)
    assert len(read(path)) == 4
    result = repaired(path)
    assert result.kept[1] == path.with_name("store.damaged-1.bak")
    assert (result.saved, result.lost) == (4, 0)


@pytest.mark.faults
@pytest.mark.parametrize("has_backup", [True, False])
def test_a_repair_that_was_killed_is_done_again(closed: Make, *, has_backup: bool) -> None:
    """Killed after the damaged file was set aside and before the new one had its name."""
    path = closed(6)
    partial_name(path).touch()
    for name in (".repair-a1_b2c3d", ".repair-notes"):  # of the repair, and of the user
        (path.parent / name).mkdir()
        (path.parent / name / "copy.sqlite").touch()
    (path.parent / ".repair-a1_b2c3e").touch()
    (path.parent / ".repair-a1_b2c3f").symlink_to(".repair-notes")
    path.rename(path.with_name("store.damaged-1.sqlite"))
    if not has_backup:
        path.with_suffix(".bak").unlink()
    with pytest.raises(StoreError, match="is gone, and held 6 evaluations"):
        SqliteStore(path, write=True)
    result = repair(path)
    assert result is not None
    assert (result.saved, result.lost) == (6, 0)
    assert len(read(path)) == 6
    left = {one.name for one in path.parent.glob(".repair-*")}
    assert left == {".repair-notes", ".repair-a1_b2c3e", ".repair-a1_b2c3f"}
    assert (path.parent / ".repair-notes" / "copy.sqlite").exists()


def set_aside(path: Path) -> None:
    """Let a repair set a whole store aside: its manifest is what was damaged."""
    path.with_suffix(".json").write_text("{")
    repaired(path)


def begin_anew(path: Path, *rows: Evaluation) -> None:
    """Go on as with another table."""
    with closing(SqliteStore(path, write=True)) as store:
        store.begin_anew(rows)


@pytest.mark.faults
def test_what_an_earlier_repair_set_aside_is_not_brought_back(
    closed: Make, evaluation: Callable[..., Evaluation]
) -> None:
    path = closed(6)
    now = [evaluation(number, loss=0.75) for number in (1, 2, 4)]
    set_aside(path)
    begin_anew(path, *now)
    path.unlink()
    result = repair(path)
    assert result is not None
    assert (result.saved, result.lost, read(path)) == (3, 0, now)
    assert check(path).problems == ()


@pytest.mark.faults
@pytest.mark.parametrize("is_changed", [False, True])
def test_without_a_backup_it_is_of_use_if_the_run_was_not_changed_since(
    closed: Make, evaluation: Callable[..., Evaluation], *, is_changed: bool
) -> None:
    path = closed(6)
    set_aside(path)
    if is_changed:
        begin_anew(path, evaluation(1, loss=0.75))
    for lost in (path, path.with_suffix(".bak")):
        lost.unlink()
    if is_changed:
        with pytest.raises(StoreError, match="not one evaluation"):
            repair(path)
    else:
        assert repair(path) == Repaired(6, 0, ())


@pytest.mark.faults
def test_a_killed_repair_is_done_again_from_the_last_one_set_aside(
    closed: Make, evaluation: Callable[..., Evaluation]
) -> None:
    """There are ten and more: their names are in another order."""
    path = closed(6)
    for number in (2, 9):
        path.with_name(f"store.damaged-{number}.sqlite").write_bytes(b"no database")
    set_aside(path)
    assert path.with_name("store.damaged-10.sqlite").exists()
    path.unlink()
    path.with_suffix(".bak").unlink()
    partial_name(path).touch()
    result = repair(path)
    assert result is not None
    assert (result.saved, read(path)[3]) == (6, evaluation(4))


@pytest.mark.faults
def test_what_was_under_way_is_known_after_a_repair(killed: Make, evaluation) -> None:
    path = killed(3)
    with closing(SqliteStore(path, write=True)) as store:
        store.begin(4, "key-0004", "tree(depth=4)")
    path.with_suffix(".json").unlink()
    assert repaired(path).saved == 3
    with closing(SqliteStore(path, write=True)) as store:
        assert [begun.text for begun in store.interrupted()] == ["tree(depth=4)"]


@pytest.mark.faults
def test_a_value_that_somebody_changed_is_found_out(closed: Make) -> None:
    """A value that was changed by a program that knows SQLite, not by a flipped byte."""
    path = closed(3)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE evaluations SET loss = 0.0 WHERE number = 2")
    with pytest.raises(StoreError, match="the row of '2' is not what was written"):
        read(path)
    assert "1 evaluation not as written, number 2" in "".join(check(path).problems)
    path.with_suffix(".bak").unlink()
    result = repaired(path)
    assert (result.saved, result.lost) == (2, 1)


@pytest.mark.faults
def test_an_evaluation_that_nobody_can_read_costs_no_other(closed: Make) -> None:
    """A time below 0 stands there with the right hash."""
    path = closed(3)
    with closing(sqlite3.connect(path)) as database, database:
        (row,) = database.execute(f"{SELECT} WHERE number = 2")
        wrong = dict(zip(COLUMNS, row, strict=False)) | {"seconds": -7.0}
        change = "UPDATE evaluations SET seconds = -7.0, sha256 = ? WHERE number = 2"
        database.execute(change, (digest(list(wrong.values())),))
    path.with_suffix(".bak").write_bytes(path.read_bytes())
    with pytest.raises(StoreError, match="evaluation 2 has impossible values"):
        read(path)
    assert "1 evaluation with impossible values, number 2" in check(path).problems[0]
    result = repaired(path)
    assert (result.saved, result.lost) == (2, 1)
    assert [one.number for one in read(path)] == [1, 3]
