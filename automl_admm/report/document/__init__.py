"""HTML, tables and SVG charts from plain values; nothing here knows a run."""
