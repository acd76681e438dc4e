"""Read finished runs again: verify a certificate, or test a model on fresh rows.

Begin with `verification`; a model in use is in `monitor`. `pipelines` and `blackbox` may not be
imported here.
"""
