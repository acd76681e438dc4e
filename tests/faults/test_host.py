"""Faults of the host: a full disk, folders that cannot be used, limits of the shell."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.timeout(400)

HEALTHY = ("decision_tree", "gaussian_nb")
MEGABYTE = 1_000_000
Mount = Callable[..., Path]


@pytest.fixture
def mount(tmp_path: Path) -> Iterator[Mount]:
    """Make a disk of so many megabytes below the test's folder; it takes the right to mount."""
    made: list[Path] = []

    def call(size: float, name: str = "disk") -> Path:
        disk = tmp_path / name
        disk.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={int(size * MEGABYTE)}", "tmpfs", str(disk)]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip("this process may not mount a small disk")
        made.append(disk)
        return disk

    yield call
    for disk in made:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def fill(disk: Path) -> Path:
    """Take all the room that is left on a disk."""
    ballast = disk / "ballast"
    with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    return ballast


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.fault(
    "F24", injected="the disk is full from the start", expected="exit 8, no half file"
)
def test_a_disk_that_is_full(fit, mount, tmp_path, seen):
    disk = mount(1)
    fill(disk)
    ended = fit(tmp_path, HEALTHY, out="disk/out")
    assert ended.code == 8, ended.err
    assert ended.err.startswith("error: no room left")
    assert ended.err.count("\n") == 1
    assert not (disk / "out" / "run.json").exists()
    seen(f"exit 8: {ended.err.strip()[7:60]}…")


@pytest.mark.fault(
    "F24",
    injected="the disk fills up while rows are stored",
    expected="exit 8; when there is room again the log is whole, no half file",
)
def test_a_disk_that_fills_up(begin, mount, tmp_path, seen):
    disk = mount(4)
    run = begin(tmp_path, ("gaussian_nb", "naps_0", "naps_1", "naps_2", "naps_3"), out="disk/out")
    run.wait_for_rows(1)
    ballast = fill(disk)
    ended = run.end()
    assert ended.code == 8, (ended.out, ended.err)
    assert "no room left" in ended.err
    assert "Traceback" not in ended.err
    assert ended.left == []
    ballast.unlink()
    assert "gaussian_nb" in ended.rows
    assert not names_in(run.out) & {"model.skops", "model.json"}
    assert json.loads((run.out / "run.json").read_text())["settings"]
    seen(f"exit 8: {ended.err.strip()[7:60]}…; {len(ended.rows)} rows whole")


@pytest.mark.fault(
    "F24",
    injected="no room for the model of the winner (8 MB)",
    expected="exit 8, or another model; the log is whole, no half file",
)
def test_a_model_that_does_not_fit_the_disk(fit, mount, tmp_path, seen):
    mount(6)
    ended = fit(tmp_path, ("has_a_big_model", "gaussian_nb"), out="disk/out")
    out = tmp_path / "disk" / "out"
    assert ended.code in (0, 8), ended.err
    assert set(ended.rows) == {"has_a_big_model", "gaussian_nb"}
    assert not any(name.endswith((".part", ".partial")) for name in names_in(out))
    assert (out / "model.skops").exists() == (ended.code == 0)
    assert "Traceback" not in ended.err
    seen(f"exit {ended.code}: {(ended.out or ended.err).splitlines()[0][:60]}")


@pytest.mark.fault(
    "F24",
    injected="ulimit -f: the log cannot be made, cannot grow; the model of 8 MB does not fit",
    expected="exit 8 and one line, or another model; no half file",
)
@pytest.mark.parametrize("most", [2_000, 40_000, 3 * MEGABYTE])
def test_files_that_may_not_grow(fit, tmp_path, seen, most):
    small = {resource.RLIMIT_FSIZE: most}
    ended = fit(tmp_path, ("has_a_big_model", "gaussian_nb"), limits=small)
    assert ended.code in ((0, 8) if most > MEGABYTE else (8,)), ended.err
    assert (tmp_path / "out" / "model.skops").exists() == (ended.code == 0)
    assert not any(name.endswith(".partial") for name in names_in(tmp_path / "out"))
    assert "Traceback" not in ended.err
    if ended.code:
        assert ended.err.count("\n") == 1
        assert "no room left" in ended.err
    assert ended.left == []
    seen(f"exit {ended.code}: {(ended.err or ended.out).splitlines()[0][:60]}")


@pytest.mark.fault(
    "F25", injected="a run folder below a file", expected="exit 2, what cannot be made"
)
def test_a_folder_below_a_file(fit, tmp_path, seen):
    (tmp_path / "file").touch()
    ended = fit(tmp_path, HEALTHY, out="file/out")
    assert ended.code == 2
    assert "the run folder 'file/out' cannot be made: Not a directory" in ended.err
    seen(f"exit 2: {ended.err.strip()[7:]}")


@pytest.mark.fault("F25", injected="a read-only disk", expected="exit 2, what cannot be made")
def test_a_read_only_disk(fit, mount, tmp_path, seen):
    disk = mount(1)
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    ended = fit(tmp_path, HEALTHY, out="disk/out")
    assert ended.code == 2
    assert "cannot be made: Read-only file system" in ended.err
    seen(f"exit 2: {ended.err.strip()[7:]}")


@pytest.mark.fault(
    "F25",
    injected="no HOME, TMPDIR missing, umask 077, a folder of 255 bytes with ü, ' and spaces",
    expected="works",
)
def test_a_strange_place(fit, tmp_path, seen):
    name = "ü it's  " + "x" * 246
    assert len(name.encode()) == 255
    homeless = {"HOME": None, "XDG_STATE_HOME": None, "XDG_CACHE_HOME": None, "TMPDIR": "/nowhere"}
    ended = fit(tmp_path, HEALTHY, "--workers", "2", out=name, environment=homeless, umask=0o077)
    assert ended.code == 0, ended.err
    assert all(row.ok for row in ended.rows.values())
    modes = {path.stat().st_mode & 0o077 for path in (tmp_path / name).rglob("*")}
    assert modes == {0}
    seen("exit 0; files are the user's alone")


@pytest.mark.fault("F26", injected="ulimit -n 64, two workers", expected="works")
def test_few_open_files(fit, tmp_path, seen):
    few = {resource.RLIMIT_NOFILE: 64}
    ended = fit(tmp_path, HEALTHY, "--workers", "2", limits=few)
    assert ended.code == 0, ended.err
    assert all(row.ok for row in ended.rows.values())
    seen("exit 0, every evaluation a success")


@pytest.mark.fault("F26", injected="shared memory of 1 MB", expected="works")
def test_little_shared_memory(fit, mount, tmp_path, seen):
    small = mount(1, "shm")
    ended = fit(
        tmp_path,
        HEALTHY,
        prefix=("unshare", "-m", "sh", "-c", f'mount --bind "{small}" /dev/shm && exec "$@"', "-"),
    )
    assert ended.code == 0, ended.err
    assert all(row.ok for row in ended.rows.values())
    seen("exit 0, every evaluation a success")


BOUND = ("setpriv", "--reuid", "65534", "--clear-groups")
CAPABLE = "+dac_read_search,+dac_override"


@pytest.mark.fault(
    "F26", injected="ulimit -u 3, as a user without privileges", expected="which limit it is"
)
def test_few_processes(fit, seen):
    """Nobody runs no other process; a capability lets it read what is another's."""
    if os.getuid() != 0:
        pytest.skip("only root can become a user who runs nothing else")
    capable = ("--inh-caps", CAPABLE, "--ambient-caps", CAPABLE)
    prefix = (*BOUND, *capable, "bash", "-c", 'ulimit -u 3 && exec "$@"', "-")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        ended = fit(folder, HEALTHY, prefix=prefix, environment={"OMP_NUM_THREADS": "1"})
    assert ended.code in (1, 4)
    # Which of them finds no room hangs on which is quicker.
    assert "the process that evaluates" in ended.err or "the thread of a solver" in ended.err
    assert "ulimit -a" in ended.err or "RLIMIT_NPROC" in ended.err
    assert "Traceback" not in ended.err
    assert ended.left == []
    seen(f"exit {ended.code}: {ended.err.strip()[7:]}")
