"""Fixtures that several folders of tests share."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from forked_servers import forked_servers
from hypothesis import settings

from automl_admm.builtin.constraints import resources

settings.register_profile("default", deadline=None, derandomize=True, max_examples=60)
settings.register_profile("thorough", deadline=None, max_examples=10_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


NUMBERS = count()
MEMORY = Path("/dev/shm")  # noqa: S108 - pytest makes a folder of this user in it
ROOM = 2_000_000_000


def pytest_configure() -> None:
    """Lay the folders of tests into memory where there is room for them.

    Each write of a store waits for the disk, and nothing that a test does can show that it did: a
    killed process loses nothing that it has written.
    """
    if "PYTEST_DEBUG_TEMPROOT" in os.environ or not os.access(MEMORY, os.W_OK):
        return
    if shutil.disk_usage(MEMORY).free > ROOM:
        os.environ["PYTEST_DEBUG_TEMPROOT"] = str(MEMORY)


@pytest.fixture(scope="session", autouse=True)
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Folders of their own for runs that several tests share: the user's are left alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))
        yield


@pytest.fixture(scope="module")
def quick_servers() -> Iterator[None]:
    """Fork servers of the executor `local` from a process that has imported all."""
    with forked_servers():
        yield


@pytest.fixture(scope="module")
def few_calls() -> Iterator[None]:
    """Time two calls of each pipeline, where a search measures how long it takes to predict.

    Ten and more calls with a thousand rows take as long as all else of a small search.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resources, "REPEATS", 2)
        patch.setattr(resources, "MOST_REPEATS", 2)
        yield


@pytest.fixture(autouse=True)
def state_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ledger of looks of its own for every test: what others have looked at does not count.

    Few tests have something to keep, so the folder is not made.
    """
    path = tmp_path_factory.getbasetemp() / "state-homes" / str(next(NUMBERS))
    monkeypatch.setenv("XDG_STATE_HOME", str(path))
    return path


SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture
def shared_data() -> Path:
    """The folder of real data sets beside the checkout; tests that need it skip without it."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the data sets beside the checkout are not here")
    return SHARED_DATA
