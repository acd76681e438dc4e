"""What a user asks to be written somewhere goes there, whatever kind of place it is."""

from __future__ import annotations

import json
import os
import signal
import stat
import threading
from pathlib import Path

import pytest
from program import run_python

from automl_admm.core.errors import ConfigurationError, DiskFullError, StoreError
from automl_admm.store.output_files import write_output
from automl_admm.store.run_folder import RunFolder, create_folder, write_json
from automl_admm.store.sqlite.lock import RunLock
from automl_admm.store.sqlite.log import SqliteStore


def test_a_link_stays_a_link_and_its_file_is_written(tmp_path: Path) -> None:
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to("real.csv")
    write_output(tmp_path / "link.csv", b"new")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_bytes() == b"new"


def test_a_pipe_stays_a_pipe_and_is_written_into(tmp_path: Path) -> None:
    pipe, found = tmp_path / "pipe", list[bytes]()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    write_output(pipe, b"rows" * 50_000)
    reader.join(timeout=300)
    assert found == [b"rows" * 50_000]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_device_stays_a_device_and_says_that_it_is_full(tmp_path: Path) -> None:
    device = tmp_path / "full"  # one of our own: what replaces it would harm the machine
    try:
        os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 7))
        device.write_bytes(b"")
    except OSError:
        pytest.skip("only root may make a device here")
    with pytest.raises(DiskFullError, match="no room left"):
        write_output(device, b"rows")
    assert stat.S_ISCHR(device.stat().st_mode)


def test_a_run_without_a_model_yet_is_told_from_a_folder_that_is_none(tmp_path: Path) -> None:
    whole = Path(__file__).parents[1] / "runs" / "stored_run" / "stacked"
    settings = json.loads((whole / "run.json").read_text())
    folder = RunFolder(tmp_path / "my run")
    folder.path.mkdir()
    with pytest.raises(StoreError, match=r"holds no model\.json\. Name the folder"):
        folder.read(folder.model_manifest)
    write_json(folder.settings, {**settings, "state": "running"})
    with pytest.raises(StoreError) as caught:
        folder.read(folder.model_manifest)
    assert str(caught.value) == (
        f"the run in '{folder.path}' has not ended, and has no model yet. "
        f"If it was killed, go on with: automl-admm resume '{folder.path}'"
    )
    write_json(folder.settings, {**settings, "state": "done"})
    with pytest.raises(StoreError) as caught:
        folder.read(folder.model_manifest)
    assert str(caught.value) == (
        f"the run in '{folder.path}' has no model. "
        f"To go on with what is kept: automl-admm resume '{folder.path}'"
    )


def test_a_folder_of_a_run_that_never_began_says_what_to_do(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    folder.path.mkdir()
    SqliteStore(folder.store, create=True).close()
    assert folder.store_manifest.exists()
    with pytest.raises(ConfigurationError, match=r"before it began\. Nothing is in it"):
        create_folder(folder.path)
    with pytest.raises(StoreError, match=r"before it began\. Delete the folder"):
        folder.read(folder.settings)
    (folder.path / ".scratch-admm-a1_b2c3d").mkdir()
    with pytest.raises(ConfigurationError, match=r"before it began\. Nothing is in it"):
        create_folder(folder.path)
    (folder.path / ".scratch-my_notes").mkdir()  # of the user
    with pytest.raises(ConfigurationError, match="is not empty"):
        create_folder(folder.path)


# The last moment before there is a `run.json`.
DIES = """
import os, signal, sys
from automl_admm.cli.main import main
from automl_admm.runs.session import session
session.write_settings = lambda *given, **named: os.kill(os.getpid(), signal.SIGKILL)
main(sys.argv[1:])
"""


def test_a_run_killed_before_its_settings_were_written_says_what_to_do(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    lines = (f"{n % 20 / 8},{'no' if n % 20 < 10 else 'yes'}\n" for n in range(60))
    rows.write_text("a,y\n" + "".join(lines))
    words = ["fit", str(rows), "--target", "y", "--grammar", "tiny", "--out", str(tmp_path / "run")]
    ended = run_python("-c", DIES, *words, "--executor", "inline", "--max-evaluations", "1")
    assert ended.returncode == -signal.SIGKILL
    folder = RunFolder(tmp_path / "run")
    assert json.loads(folder.store_manifest.read_text())["is_open"]
    with pytest.raises(ConfigurationError, match=r"before it began\. Nothing is in it"):
        create_folder(folder.path)
    with pytest.raises(StoreError, match=r"before it began\. Delete the folder"):
        folder.read(folder.settings)


def test_a_run_that_is_beginning_is_not_called_one_that_was_cut_off(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    store = SqliteStore(folder.store, create=True)
    with pytest.raises(ConfigurationError, match="is not empty"):
        create_folder(folder.path)
    store.close()
    with pytest.raises(ConfigurationError, match="before it began"):
        create_folder(folder.path)


def test_evaluations_that_the_lock_alone_has_counted_are_something(tmp_path: Path) -> None:
    """The manifest of a store that was not closed may be older than they are."""
    folder = RunFolder(tmp_path)
    SqliteStore(folder.store, create=True).close()
    lock = RunLock(folder.path / "store.lock")
    lock.note("r", 3)
    lock.release()
    with pytest.raises(ConfigurationError, match="is not empty"):
        create_folder(folder.path)


def test_a_store_with_evaluations_alone_is_not_called_one_that_never_began(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    SqliteStore(folder.store, create=True).close()
    said = json.loads(folder.store_manifest.read_text()) | {"rows": 3}
    folder.store_manifest.write_text(json.dumps(said))
    with pytest.raises(ConfigurationError, match="is not empty"):
        create_folder(folder.path)
