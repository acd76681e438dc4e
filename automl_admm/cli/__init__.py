"""The command line: options in, one line or a table out.

Nothing is decided here that Python users could not call. Begin with `main`, then `commands/fit`.
"""
