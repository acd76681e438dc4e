"""The sections of a report: each module has a record of its numbers, their measure, their look.

They read a `RunView` and import nothing from each other.
"""
