from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from automl_admm.core.evaluations import Status
from automl_admm.core.protocols import Task
from automl_admm.execution.local_executor import LocalExecutor
from automl_admm.execution.shared_arrays import ARRAYS, read_mapped, write_mapped
from automl_admm.plugins.records import ExecutorSetting

FRAME = pd.DataFrame({"a": np.arange(40.0), "b": np.arange(40), "c": ["x", "y"] * 20})
ITEMS = {
    "nothing": None,
    "one array": np.arange(7.0),
    "an empty array": np.zeros((0, 3)),
    "arrays of many kinds": [np.zeros(3, dtype=bool), np.asfortranarray(np.eye(5)), np.array(2)],
    "texts": np.array(["a", None, 3], dtype=object),
    "a frame": FRAME,
}


def write(item: object, path: Path) -> None:
    arrays: list[pickle.PickleBuffer] = []
    write_mapped(pickle.dumps(item, 5, buffer_callback=arrays.append), arrays, path)


@pytest.mark.parametrize("item", ITEMS.values(), ids=ITEMS)
def test_what_is_written_comes_back(item: object, tmp_path: Path) -> None:
    write(item, tmp_path / "work.pickle")
    np.testing.assert_equal(_plain(read_mapped(tmp_path / "work.pickle")), _plain(item))


def _plain(item: object) -> object:
    return item.to_dict() if isinstance(item, pd.DataFrame) else item


def test_numbers_of_a_frame_stand_in_the_file_of_arrays(tmp_path: Path) -> None:
    frame = pd.DataFrame(np.random.default_rng(0).random((5000, 10)))
    write(frame, tmp_path / "work.pickle")
    assert (tmp_path / "work.pickle").stat().st_size < 5_000
    assert (tmp_path / "work").with_suffix(ARRAYS).stat().st_size >= 8 * frame.size


def test_who_writes_to_an_array_does_not_change_the_file(tmp_path: Path) -> None:
    write(np.arange(1000.0), tmp_path / "work.pickle")
    mine = read_mapped(tmp_path / "work.pickle")
    mine[:] = -1.0
    assert read_mapped(tmp_path / "work.pickle")[999] == 999.0


class Looking:
    """Work that says which files its process has mapped."""

    def __init__(self, data: np.ndarray) -> None:
        self.data = data

    def look(self, folder: Path) -> dict:
        maps = Path("/proc/self/maps").read_text()
        return {"mapped": f"work{ARRAYS}" in maps, "sum": float(self.data.sum())}


def test_a_child_has_the_data_mapped(tmp_path: Path) -> None:
    setting = ExecutorSetting(workers=1, memory_bytes=None, scratch=tmp_path)
    executor = LocalExecutor(Looking(np.ones(100_000)), setting)
    try:
        executor.submit(Task(1, "look", {}, 60.0))
        (done,) = executor.wait(60.0)
    finally:
        executor.close()
    assert done.status is Status.SUCCESS, done.message
    assert done.result == {"mapped": True, "sum": 100_000.0}
