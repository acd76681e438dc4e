"""The plugins shipped with the package: solvers, components, constraints, executors, grammars.

Each sub-package registers itself with the hooks of `plugins.specs`, exactly as a foreign plugin
would. Import from lower layers only, never from `runs`, `api`, `cli` or `testing`. Heavy imports
(SciPy, scikit-learn) stand inside the factories, so that listing the plugins stays quick. Begin
with `theta` and `z`, the solvers of the sub-problems.
"""
