"""Read finished runs again: verify a certificate, or test a model on fresh rows.

Begin with `verification`. `pipelines` and `blackbox` may not be imported here.
"""
