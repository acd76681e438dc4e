"""One thread for products and fits of the tests of plugins, as `tests/conftest.py` says."""

from __future__ import annotations

import os

import scipy.linalg  # noqa: F401 - its BLAS is to be there when threads are counted
import sklearn.ensemble  # noqa: F401 - and its OpenMP
from threadpoolctl import threadpool_limits

threadpool_limits(1)
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
