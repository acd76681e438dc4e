"""Shared parts of commands: progress, summaries, parameter types, the screen."""
