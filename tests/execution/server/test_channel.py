from __future__ import annotations

import socket
from contextlib import closing

import pytest

from automl_admm.execution.server.channel import Channel


@pytest.mark.parametrize("timeout", [7.2e9, 1e300])
def test_a_wait_of_centuries_is_a_wait(timeout: float) -> None:
    one, other = map(Channel, socket.socketpair())
    with closing(one), closing(other):
        one.send({"event": "ready"})
        assert other.receive(timeout) == [{"event": "ready"}]
