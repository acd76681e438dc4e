"""Watch a model in use: its limits at all looks at once, rows that count again, shifts of columns.

Begin with `monitoring`.
"""
