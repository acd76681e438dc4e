"""Confidence bounds for rates, means, rankings and their differences.

Begin with `bounds`.
"""
