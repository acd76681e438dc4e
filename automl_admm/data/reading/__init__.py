"""Read a table from a file: all of it, or as many rows as there is time for.

A file is read in pieces if there is a deadline, and the pieces read are noted as a share, so that
`resume` and `verify` read the same rows again. Of the package only the rest of `data` and `core`
may be imported here. Begin with `tables`, then `timed_reading`.
"""
