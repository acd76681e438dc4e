"""Evaluating candidates: pipelines built and measured, in child processes, within a budget."""
