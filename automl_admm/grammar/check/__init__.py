"""Check a grammar before anything is searched: names, ranges, recursion, order."""
