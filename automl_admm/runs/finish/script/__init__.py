"""Write `pipeline.py`: a script that fits the winner anew with scikit-learn and pandas alone.

Code for its columns and for components of ours is taken from this package by `bundle`; so what the
script does is what the package does. Begin with `pipeline_script`.
"""
