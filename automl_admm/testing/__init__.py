"""For plugin authors: contract suites for solvers, and objectives whose optimum is known.

Nothing in the package imports this; `contracts` needs pytest.
"""
