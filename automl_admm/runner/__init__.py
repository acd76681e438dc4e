"""Putting a run together from its configuration: the one place that knows all the parts."""
