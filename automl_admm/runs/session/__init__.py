"""A run's folder while it is in use: its request, its log, what changed since.

Begin with `session`.
"""
