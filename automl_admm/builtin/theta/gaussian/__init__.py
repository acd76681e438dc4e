"""The Gaussian-process solver of our own, and its parts.

Begin with `gp`.
"""
