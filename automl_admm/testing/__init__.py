"""For authors of plugins: suites that hold what a plugin provides to its promises; objectives.

Nothing in the package imports this. Begin with `contracts`, the classes to subclass; the modules
named after hooks have their tests, `problems` the sub-problems of solvers. `check` runs the suites
for a user, on the `subjects` that are installed. `objectives` and `lookup_tables` serve benchmarks.
"""

from __future__ import annotations

import sys

WITH_PROMISES = tuple(
    f"automl_admm.testing.{name}"
    for name in (
        "boxes",
        "component_forms",
        "components",
        "constraints",
        "executors",
        "exporters",
        "fresh_process",
        "grammars",
        "hard_boxes",
        "hard_tables",
        "metrics",
        "observers",
        "silence",
        "started_executor",
        "strategies",
        "theta",
        "whole",
        "z",
    )
)

# pytest explains a failed `assert` only in modules registered before their import.
if "pytest" in sys.modules:
    sys.modules["pytest"].register_assert_rewrite(*WITH_PROMISES)
