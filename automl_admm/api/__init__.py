"""The Python interface: two scikit-learn estimators, and `minimize` for any black box.

`estimators` has the two classes and what they do with a run. It may import `runs` and all below,
not the command line. Begin with `estimators.AutoMLClassifier`.
"""

from automl_admm.api.estimators import AutoMLClassifier, AutoMLRegressor
from automl_admm.runs.minimize import MinimizeResult, minimize

__all__ = ["AutoMLClassifier", "AutoMLRegressor", "MinimizeResult", "minimize"]
