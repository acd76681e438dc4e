"""Addresses without a Ray; apart from the tests that have one, as a program has one at a time."""

import pytest
from automl_admm_ray import RayOptions, build_ray

from automl_admm.plugin_api import ConfigurationError, ExecutorSetting
from automl_admm.testing.hazards import Hazards


@pytest.mark.parametrize("address", ["127.0.0.1:1", "10.0.0.5", "ray://127.0.0.1:1", "::1:port"])
def test_no_ray_at_an_address_is_one_line(address, tmp_path):
    with pytest.raises(ConfigurationError, match=f"no Ray to reach at '{address}': .+Start one"):
        build_ray(Hazards(), ExecutorSetting(1, None, tmp_path), RayOptions(address))
    assert list(tmp_path.iterdir()) == []
