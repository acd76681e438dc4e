"""Finished runs read again: their model, their certificate, fresh rows.

Begin with `model_file`.
"""
