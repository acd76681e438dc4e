"""The program of a process with a cluster for one run: it lasts as long as its input."""

from __future__ import annotations

import json
import sys

import dask
from distributed import LocalCluster

from automl_admm.plugin_api import thread_environment


def main() -> None:
    """Start the cluster, print its address, and end with the input."""
    setting = json.loads(sys.argv[2])
    threads = thread_environment(int(setting["threads"]))
    dask.config.set({"distributed.nanny.pre-spawn-environ": threads})
    with LocalCluster(
        n_workers=setting["workers"],
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address=None,
        memory_limit=0,
        local_directory=setting["scratch"],
    ) as cluster:
        sys.stdout.write(f"{cluster.scheduler_address}\n")
        sys.stdout.flush()
        sys.stdin.read()
