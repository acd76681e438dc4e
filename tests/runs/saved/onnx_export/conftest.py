"""Tests of the export to ONNX need the packages of its extra."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _onnx_is_here() -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("skl2onnx")
