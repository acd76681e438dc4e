"""Parzen estimators: `tpe`, and `ctpe` for limits (Watanabe and Hutter)."""
