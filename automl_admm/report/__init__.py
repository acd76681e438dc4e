"""The report of a run: one HTML file without scripts, and the same numbers as JSON.

Begin with `writing`. `view` reads a run folder and changes nothing in it. Each module of
`sections/` measures a small frozen record on that view and draws it; `document/` writes HTML and
SVG, with one escape in one place. The command line and the estimators import this package, never
the other way.
"""
