"""For authors of plugins: contract suites that hold a solver to its promises, and objectives.

Nothing in the package imports this.
"""

from __future__ import annotations

import sys

WITH_PROMISES = tuple(
    f"automl_admm.testing.{name}" for name in ("fresh_process", "silence", "theta", "whole", "z")
)

# pytest says what was wrong with an `assert` only in modules that it knew of before their import.
if "pytest" in sys.modules:
    sys.modules["pytest"].register_assert_rewrite(*WITH_PROMISES)
