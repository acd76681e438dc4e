"""Read the grammar's text into a tree."""
