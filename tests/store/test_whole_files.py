"""Files of several processes under one name: each is whole, and what a killed one left goes."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from program import start_python

from automl_admm.core.errors import StoreError
from automl_admm.store.output_files import open_output, write_output

# Writes half of its file, says so, and waits for a word or for its end.
WRITES = """
import sys
from pathlib import Path
from automl_admm.store.output_files import open_output
with open_output(Path(sys.argv[1])) as file:
    file.write(b"half, ")
    file.flush()
    print("half", flush=True)
    sys.stdin.readline()
    file.write(b"whole")
"""


def begin(path: Path) -> subprocess.Popen[str]:
    """Start a process that has written half of a file."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    begun = start_python("-c", WRITES, path, text=True, bufsize=1, **pipes)
    assert begun.stdout is not None
    assert begun.stdout.readline() == "half\n"
    return begun


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_two_processes_that_write_one_file_leave_it_whole(tmp_path: Path) -> None:
    """One renamed the other's half-written file into place, and that other failed at its end."""
    path = tmp_path / "out.csv"
    first, second = begin(path), begin(path)
    first.communicate("go on\n")
    assert path.read_bytes() == b"half, whole"
    path.unlink()
    second.communicate("go on\n")
    assert path.read_bytes() == b"half, whole"
    assert (first.returncode, second.returncode) == (0, 0)
    assert names_in(tmp_path) == ["out.csv"]


def test_what_a_killed_process_left_goes_with_the_next_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    killed, alive = begin(path), begin(path)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    others = [".out.csv.mine.partial", ".out.csv2.partial"]
    for name in others:
        (tmp_path / name).touch()
    write_output(path, b"next")
    left = set(names_in(tmp_path)) - {"out.csv", *others}
    assert len(left) == 1
    alive.communicate("go on\n")
    assert path.read_bytes() == b"half, whole"
    assert names_in(tmp_path) == sorted((*others, "out.csv"))


def write_at_once(path: Path, content: bytes) -> None:
    with open_output(path) as stream:
        stream.write(content)


@pytest.mark.parametrize("write", [write_at_once, write_output])
def test_an_interrupt_leaves_the_old_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[[Path, bytes], None]
) -> None:
    def interrupt(descriptor: int) -> None:
        raise KeyboardInterrupt

    (tmp_path / "out.csv").write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "out.csv", b"new")
    assert names_in(tmp_path) == ["out.csv"]
    assert (tmp_path / "out.csv").read_bytes() == b"old"


@pytest.mark.parametrize("refusal", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusal: int
) -> None:
    def refuse(file: object, how: int) -> None:
        raise OSError(refusal, os.strerror(refusal))

    monkeypatch.setattr("automl_admm.store.whole_files.fcntl.flock", refuse)
    (tmp_path / ".out.csv.partial").touch()
    write_output(tmp_path / "out.csv", b"new")
    assert (tmp_path / "out.csv").read_bytes() == b"new"
    assert (tmp_path / ".out.csv.partial").exists()


@pytest.mark.parametrize("name", ["x" * 237, "x" * 238, "x" * 255, "ü" * 127])
def test_a_long_name_is_written_and_what_is_left_of_it_goes(name: str, tmp_path: Path) -> None:
    """Names of 238 to 246 bytes had no room for the digits of the file beside them."""
    path = tmp_path / name
    killed = begin(path)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert len(names_in(tmp_path)) == 1
    write_output(path, b"new")
    assert names_in(tmp_path) == [name]


def test_a_name_that_is_too_long_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with (
        pytest.raises(StoreError, match="cannot be written: File name too long"),
        open_output(tmp_path / ("x" * 256)),
    ):
        pytest.fail("it was opened")
    assert names_in(tmp_path) == []


def test_a_file_of_another_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = iter(["00000000", "11111111"])
    monkeypatch.setattr(
        "automl_admm.store.whole_files.secrets.token_hex", lambda size: next(tokens)
    )
    (tmp_path / ".out.csv.00000000.partial").mkdir()
    write_output(tmp_path / "out.csv", b"new")
    assert names_in(tmp_path) == [".out.csv.00000000.partial", "out.csv"]
