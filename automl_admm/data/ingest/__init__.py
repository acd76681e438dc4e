"""Turn the raw table of a user into the table that pipelines see, by facts found once.

`deciding` finds the facts on the rows given to fit, without the target. `applying` reads any later
table by them. `forms` has a module for each form of column. Begin with `records`.
"""
