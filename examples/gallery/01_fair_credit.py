# %% [markdown]
# # Fair credit scoring, with a certificate
#
# A bank wants to know who will not pay next month. Among those who would pay, the share that is
# refused by mistake (the false positive rate) must not differ by more than 15 points between
# women and men, and the bank wants that **proven** on rows that nothing has seen.

# %%
import os
import sys
import tempfile
from pathlib import Path

import pandas as pd

from automl_admm import AutoMLClassifier

QUICK = "--quick" in sys.argv or "AUTOML_ADMM_QUICK" in os.environ
BUDGET = {"max_evaluations": 3, "cv": 2, "grammar": "tiny"} if QUICK else {"time_budget": "90s"}
HERE = Path(__file__).parent if "__file__" in globals() else Path()

# %% [markdown]
# ## The table
#
# 4,000 clients of a bank in Taiwan (UCI Machine Learning Repository, CC BY 4.0), with what they
# owed and paid for half a year. `SEX` is kept apart: a limit may compare groups by it, and no
# pipeline sees it.

# %%
table = pd.read_csv(HERE / "data" / "credit_default.csv.gz")
y = table.pop("default").map({0: "pays", 1: "defaults"})
sex = table.pop("SEX")
print(pd.crosstab(sex, y, normalize="index").round(3))

# %% [markdown]
# ## The search
#
# `certify=0.95` sets a part of the rows aside. Only after the search the best pipelines are
# tested on them, with an error of at most 5 % in all.

# %%
folder = Path(tempfile.mkdtemp(prefix="automl-admm-gallery-"))
search = AutoMLClassifier(
    **BUDGET,
    constraints=["fpr_gap[SEX] <= 0.15"],
    certify=0.95,
    positive="defaults",
    on_infeasible="closest",
    work_dir=folder / "run",
    random_state=0,
)
search.fit(table, y, sensitive_features=sex)
print(search.best_text_)
print(f"ROC AUC {search.best_score_:.3f} in validation")

# %% [markdown]
# ## The certificate
#
# Each limit has its value on the rows set aside, a bound that the true value is below with 95 %
# confidence, and a verdict. A verdict of *not certified* says that these rows were too few, or
# the gap too large, to prove the limit. It is no proof of the opposite.

# %%
for finding in search.certificate_.findings:
    print(finding)
    print(f"value {finding.value:.3f}, bound {finding.bound:.3f}, limit 0.150")

# %% [markdown]
# ## What the limit cost
#
# Each point is a pipeline: to the right of the line it is outside of the limit.

# %%
axes = search.plot_limits()

# %% [markdown]
# More: [keep groups alike](../../docs/how_to/fairness.md), [what a certificate proves, and what
# it does not](../../docs/explanation/proofs.md).
