#!/bin/bash
# Runs the scripts of all launchers, then culprits.sh; see common.sh. It is a failure if one fails, or if no launcher
# could run.
set -euo pipefail
cd "$(dirname "$0")"

ran=0
for script in ssh mpirun slurm culprits; do
  code=0
  "${SCRIPTS:-.}/$script.sh" || code=$?
  case $code in
    0) [ $script = culprits ] || ran=$((ran + 1)) ;;
    77) ;;
    *) exit "$code" ;;
  esac
done
[ $ran -gt 0 ] || { echo "all.sh: FAILED: every launcher was skipped, so nothing was tested" >&2; exit 1; }
