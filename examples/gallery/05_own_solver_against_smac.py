# %% [markdown]
# # A solver of your own against SMAC
#
# Ten lines that draw points near the best one so far: are they better than SMAC's random forests
# on this table? The same space, the same folds and the same number of evaluations, and only the
# solver differs. It needs the plugin
# [automl-admm-smac](../../plugins/automl-admm-smac/README.md).

# %%
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_breast_cancer

from automl_admm import AutoMLClassifier

QUICK = "--quick" in sys.argv or "AUTOML_ADMM_QUICK" in os.environ
EVALUATIONS, SEEDS = (4, (0,)) if QUICK else (30, (0, 1, 2))


# %% [markdown]
# ## The solver
#
# It is asked for points of [0, 1]^d, and told what came of them. With each failure to get better
# its steps become shorter.


# %%
SOLVER = """
import numpy as np
from automl_admm.plugin_api import ThetaSolverPlugin, hookimpl


class Nearby:
    def begin(self, subproblem):
        self.rng = np.random.default_rng(subproblem.seed)
        self.best, self.loss, self.width = subproblem.start, np.inf, 0.3
        self.tell(subproblem.history)

    def ask(self, count, pending):
        steps = self.rng.normal(scale=self.width, size=(count, len(self.best)))
        return list(np.clip(self.best + steps, 0.0, 1.0))

    def tell(self, observations):
        for told in observations:
            if not told.failed and told.loss < self.loss:
                self.best, self.loss = told.point, told.loss
            else:
                self.width = max(self.width * 0.9, 0.02)


@hookimpl
def theta_solvers():
    yield ThetaSolverPlugin(name="nearby", summary="near the best", factory=lambda _: Nearby())
"""

# %% [markdown]
# A plugin is a module with an entry point. `pip install` would put both into place; a notebook
# writes them into a folder that Python searches.

# %%
folder = Path(tempfile.mkdtemp(prefix="automl-admm-gallery-"))
about = folder / "nearby-1.0.dist-info"
about.mkdir()
(folder / "nearby.py").write_text(SOLVER)
(about / "METADATA").write_text("Metadata-Version: 2.1\nName: nearby\nVersion: 1.0\n")
(about / "entry_points.txt").write_text("[automl_admm]\nnearby = nearby\n")
sys.path.insert(0, str(folder))

# %% [markdown]
# ## The comparison
#
# A grammar of one pipeline leaves nothing to choose: all that is searched are the numbers.

# %%
X, y = load_breast_cancer(return_X_y=True, as_frame=True)
GRAMMAR = """
%import components (standard_scaler, mlp)
start: standard_scaler mlp
"""
grammar = folder / "numbers.lark"
grammar.write_text(GRAMMAR)


def curve(solver: str, seed: int) -> list[float]:
    """Return the best score after each evaluation."""
    search = AutoMLClassifier(
        grammar=grammar,
        theta_solver=solver,
        max_evaluations=EVALUATIONS,
        cv=2 if QUICK else 5,
        ensemble=False,
        random_state=seed,
    )
    search.fit(X, y)
    scores = np.nan_to_num(search.cv_results_["mean_test_score"], nan=0.0)
    return list(np.maximum.accumulate(scores))


# %%
curves = {solver: [curve(solver, seed) for seed in SEEDS] for solver in ("nearby", "smac")}
for solver, found in curves.items():
    print(f"{solver}: best ROC AUC {', '.join(f'{one[-1]:.4f}' for one in found)}")

# %%
_, axes = plt.subplots()
for solver, found in curves.items():
    axes.plot(range(1, EVALUATIONS + 1), np.median(found, axis=0), label=solver)
axes.set_xlabel("evaluations")
axes.set_ylabel(f"best ROC AUC so far, median of {len(SEEDS)}")
axes.legend()

# %% [markdown]
# Three seeds on one table decide nothing. [Benchmarks](../../docs/benchmarks/index.md) has
# comparisons that do, and [a solver in 40 lines](../../docs/how_to/own_solver.md) one that keeps
# all promises: `automl-admm plugins check` tests them.
