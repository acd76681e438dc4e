from __future__ import annotations

import numpy as np

from automl_admm.pipelines.memory_peak import forget_peak, peak_mb


def test_the_peak_grows_with_what_is_held_at_once() -> None:
    forget_peak()
    before = peak_mb()
    held = np.ones(40_000_000 // 8 * 8, dtype=np.uint8) + np.uint8(1)
    assert held.sum() == 2 * len(held)
    assert peak_mb() > before + 20
