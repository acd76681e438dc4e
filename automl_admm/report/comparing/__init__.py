"""Runs side by side: begin with `comparison`."""
