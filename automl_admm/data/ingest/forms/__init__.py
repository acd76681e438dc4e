"""Forms of columns: a module for each, with a function to recognise it and one to read it."""
