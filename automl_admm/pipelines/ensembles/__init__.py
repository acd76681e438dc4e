"""Ensembles of evaluated pipelines, chosen on their out-of-fold predictions.

Begin with `choice`: it decides between an ensemble and the single best pipeline.
"""
