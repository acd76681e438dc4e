"""Expand imports, overrides and rules into the pipelines they describe."""
