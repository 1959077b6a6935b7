#!/bin/bash
# A job under Open MPI's mpirun, which also starts jobs under SGE.
. "$(dirname "$0")/common.sh"
need mpirun
need_build

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1  # in a container there may be nobody else
run() { echo mpirun --oversubscribe --bind-to none -n "$1"; }

expect 0 '"rank":1' "every process has launch info" $(run 2) "$helper" launch-info
grep -q '"launcher":"mpi".*"rank":0.*"world":2' "$folder/said" || { cat "$folder/said"; fail "rank 0 has no launch info"; }
expect 0 "none" "one process has none" $(run 1) "$helper" launch-info

expect_same_bits "mpirun -n 2" $(run 2) "$trireme" "${job[@]}" --strategy allreduce
