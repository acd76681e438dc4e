"""Before the search: how many rows a certificate needs, and its power."""
