"""The progress of a run, shown on a stream, on a terminal or in a notebook.

`run_so_far` counts the events of a run, `picture` draws them at any width, `displays` show the
picture or lines, and `observer` ties them to the hooks. Nothing is shown unless somebody makes a
display and says where. It may import `core` and rich. Begin with `observer.Progress`.
"""
