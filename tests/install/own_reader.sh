# The example's data: looked at, learnt by its network, and packed for programs that do not know it.
. "$(dirname "$0")/common.sh"

"$mine" list datasets | grep -q '^spirals ' || fail "spirals are not listed"
"$mine" data info --data spirals | grep -q '4000 samples' || fail "spirals are not 4000"
"$mine" train --model points --data spirals --optimizer adam:lr=0.01 --epochs 20 --workers 2 --run run --json > run.json
learnt run.json 0.95
"$mine" eval --run run
"$mine" data pack --data spirals --to spirals.trireme
"$trireme" data info --data ./spirals.trireme
