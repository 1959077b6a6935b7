# What the scripts of this folder share; each sources it. They check a launcher with real processes: first that ranks
# find together (test_cluster, see main.cpp), then that a job of training ends with the same bits as in one process.
# Exit code 77: skipped.
set -euo pipefail

source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
trireme=${TRIREME:-$source_dir/build/trireme}
helper=$source_dir/build/tests/test_cluster
job=(train --model lenet5 --data synthetic --steps 20 --batch 32 --oars 8 --seed 3 --json)
deadline=120  # seconds, for one command
folder=$(mktemp -d /tmp/trireme-cluster-XXXXXX)

# Each script says what else there is to clean.
clean() { :; }
trap 'clean; rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM HUP

say() { echo "$(basename "$0"): $*"; }
skip() { say "skipped: $*"; exit 77; }
fail() { say "FAILED: $*" >&2; exit 1; }
need() { for program in "$@"; do command -v "$program" >/dev/null || skip "$program is not installed"; done; }
need_build() { [ -x "$trireme" ] && [ -x "$helper" ] || fail "nothing is built; run make test-cluster"; }
need_root() { [ "$(id -u)" = 0 ] || skip "$1 needs root"; }

# expect CODE TEXT WHAT COMMAND...: the command ends with that code and has said the text.
expect() {
  local code=$1 text=$2 what=$3 result=0
  shift 3
  timeout -k 5 "$deadline" "$@" >"$folder/said" 2>&1 </dev/null || result=$?
  [ "$result" = "$code" ] || { cat "$folder/said"; fail "$what: exit code $result, expected $code"; }
  grep -qF -- "$text" "$folder/said" || { cat "$folder/said"; fail "$what: nobody said '$text'"; }
  say "$what: ok"
}

# until_true COMMAND...: tries it again until it succeeds; fails after a while.
until_true() {
  local end=$((SECONDS + 20))
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $end ] || return 1
    sleep 0.1
  done
}

# weights COMMAND...: the hash of the weights that a job ends with.
weights() {
  timeout -k 5 "$deadline" "$@" >"$folder/summary" 2>"$folder/errors" </dev/null ||
    { cat "$folder/summary" "$folder/errors" >&2; fail "'$*' failed"; }
  sed -n 's/.*"weights_sha256": *"\([0-9a-f]*\)".*/\1/p' "$folder/summary" | tail -n 1
}

# expect_same_bits WHAT COMMAND...: as the job in one process.
expect_same_bits() {
  local what=$1 alone together
  shift
  alone=$(weights "$trireme" "${job[@]}" --strategy single)
  together=$(weights "$@")
  [ -n "$alone" ] || fail "the job in one process printed no weights_sha256"
  [ "$alone" = "$together" ] || fail "$what: weights $together, in one process $alone"
  say "$what: the same bits as in one process, ${alone:0:12}..."
}

cd "$folder"
