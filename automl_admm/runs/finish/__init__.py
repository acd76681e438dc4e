"""After the search: fit the best, certify it, and write what ships.

Begin with `final_fit` and `run_files`.
"""
