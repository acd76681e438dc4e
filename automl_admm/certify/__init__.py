"""Prove on rows held out that limits hold: bounds, the plan before, the walk after.

Begin with `certificate`. Nothing is known here of pipelines or processes.
"""
