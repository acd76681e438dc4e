"""The scikit-learn work: build a pipeline, fit it, choose thresholds, measure it.

Nothing is known here of budgets, stores or searches. Begin with `work`.
"""
