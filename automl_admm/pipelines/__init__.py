"""The scikit-learn work: build a pipeline, fit it, choose its thresholds, measure it.

This code runs in child processes. Nothing here may import budgets, stores or searches.
Begin with `work`, then `build` and `fitting`; `predictions` checks the answers of a fitted
pipeline, `thresholds` chooses decision thresholds within limits.
"""
