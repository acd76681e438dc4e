"""For authors of plugins: contract suites that hold a solver to its promises, and objectives.

Nothing in the package imports this.
"""
