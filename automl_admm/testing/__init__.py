"""For authors of plugins: suites that hold a solver or a component to its promises; objectives.

Nothing in the package imports this. Begin with `contracts`, the classes to subclass; `theta`,
`whole` and `z` have their tests, `problems` the sub-problems they use. `check` runs the suites for
a user. `objectives` and `lookup_tables` serve benchmarks.
"""

from __future__ import annotations

import sys

WITH_PROMISES = tuple(
    f"automl_admm.testing.{name}"
    for name in (
        "components",
        "executors",
        "fresh_process",
        "silence",
        "strategies",
        "theta",
        "whole",
        "z",
    )
)

# pytest explains a failed `assert` only in modules registered before their import.
if "pytest" in sys.modules:
    sys.modules["pytest"].register_assert_rewrite(*WITH_PROMISES)
