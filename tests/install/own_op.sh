# The example's op: its gradient, its row, and a network of it that learns.
. "$(dirname "$0")/common.sh"

"$mine" gradient
"$mine" list ops | grep -q '^swish ' || fail "swish is not listed"
"$mine" train --model swish-net --data synthetic --epochs 1 --workers 2 --optimizer sgd:lr=0.05 --run run --json > run.json
learnt run.json 0.9
"$mine" eval --run run
