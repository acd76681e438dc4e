"""SMAC looks for its next configuration less thoroughly here: what is tested is what is asked."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from automl_admm_smac import maximizer, trials
from smac.model.gaussian_process import GaussianProcess

# Most of the time of a proposal goes into SMAC's own search for the best expected improvement.
LOCAL = {"max_steps": 20, "n_steps_plateau_walk": 1}
CHALLENGERS = {"forest": 1_000, "process": 300}
RESTARTS = 1
# Another process repeats what was done here, and knows nothing of this.
REPEATED = {"test_same_proposals_in_another_process", "test_nothing_hangs_on_the_hash_seed"}


@pytest.fixture(autouse=True)
def quick_search(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let SMAC end its searches early, and fit a Gaussian process from few starts."""
    if request.node.name in REPEATED:
        return
    settled = partial(maximizer.SettledLocalSearch, **LOCAL)
    monkeypatch.setattr(maximizer, "SettledLocalSearch", settled)
    monkeypatch.setattr(trials, "CHALLENGERS", CHALLENGERS)
    whole = GaussianProcess.__init__

    def begin(self: GaussianProcess, *given: Any, **more: Any) -> None:
        whole(self, *given, **more | {"n_restarts": RESTARTS})

    monkeypatch.setattr(GaussianProcess, "__init__", begin)
