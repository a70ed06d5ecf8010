"""Runs a sweep as an MPI job: mpiexec -n 3 python3 -m mpi4py.futures sweep_on_mpi.py TABLE.csv. The first rank controls
the sweep and writes the table. The other ranks run the points."""

import sys

import sluice

GRID = {"workload.batch": [1, 4, 16], "platform.links.host.bandwidth": ["4GB/s", "16GB/s"]}


def scenario():
    return sluice.load("alexnet_resident", {"workload.steps": 2, "policy.buffers": 2,
                                            "stages": {"cut": "whole"}})


if __name__ == "__main__":
    from mpi4py.futures import MPIPoolExecutor
    with MPIPoolExecutor() as workers:
        scenario().sweep(GRID, workers=workers, verify=0).frame.to_csv(sys.argv[1])
