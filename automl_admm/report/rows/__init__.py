"""The model of a run on labelled rows: read here, measured by the sections of a report.

Begin with `given`. `bins`, `curves` and `shuffling` compute on arrays alone.
"""
