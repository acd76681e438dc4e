"""Evaluating candidates: building pipelines, measuring them, in child processes, within a budget."""
