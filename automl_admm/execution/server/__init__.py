"""The fork server: it imports once and forks a child for each task.

Begin with `client`, its side in the run's process.
"""
