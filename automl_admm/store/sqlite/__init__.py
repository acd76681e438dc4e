"""The SQLite store: its schema, its lock, its rows.

Begin with `log`.
"""
