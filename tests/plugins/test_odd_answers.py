"""What a plugin or its files answer in another way than they should is told, and ends nothing."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from automl_admm.plugins.fingerprints import fingerprint
from automl_admm.plugins.hook_manager import new_manager
from automl_admm.plugins.observers import Observers


@pytest.mark.parametrize("answer", [np.array([True, False]), np.array([0, 0])], ids=["some", "no"])
def test_an_answer_that_is_neither_true_nor_false_drops_its_observer(answer, caplog):
    class Odd:
        def should_stop(self, evaluations):
            return answer

    observers = Observers(new_manager(), [Odd()])
    assert observers.tell("should_stop", evaluations=1) == []
    assert "observer 'Odd' failed in should_stop and is dropped for this run" in caplog.text
    assert observers.tell("should_stop", evaluations=2) == []


@pytest.mark.parametrize("answer", [True, np.True_, None, False, np.array([True])], ids=repr)
def test_any_other_answer_counts(answer):
    class Clear:
        def should_stop(self, evaluations):
            return answer

    (found,) = Observers(new_manager(), [Clear()]).tell("should_stop", evaluations=1)
    assert bool(found) is bool(answer)


@pytest.mark.parametrize("content", [b"\n", b"\xff\xfe,,\n", b"a,b,c,d\n"], ids=repr)
def test_a_damaged_list_of_files_stops_no_command(tmp_path: Path, content: bytes) -> None:
    folder = tmp_path / "broken-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (folder / "RECORD").write_bytes(content)
    broken = metadata.PathDistribution(folder)
    assert len(fingerprint("broken", "broken 1.0", "no_such_module", broken)) == 32
