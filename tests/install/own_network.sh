# The example's network with the whole program: three workers, killed and resumed, evaluated, predicted, listed.
. "$(dirname "$0")/common.sh"

options="--model mine --data synthetic --train-samples 12800 --epochs 5 --workers 3 --strategy ps:mode=sync --json
  --optimizer sgd:lr=0.02,momentum=0.9"

"$mine" list models | grep -q '^mine  *1x28x28 .*two branches' || fail "mine is not listed"
"$mine" train $options --run whole > whole.json
learnt whole.json 0.8

# Killed with all its processes in the middle, it goes on to the same weights.
setsid "$mine" train $options --run killed --checkpoint-every 50 --keep 4 > killed.json 2> killed.txt &
launcher=$!
for _ in $(seq 1500); do
  [ "$(ls killed/checkpoints 2> /dev/null | wc -l)" -ge 4 ] && break
  kill -0 $launcher 2> /dev/null || fail "the run ended before it could be killed: $(cat killed.txt)"
  sleep 0.02
done
kill -9 -- -$launcher
wait $launcher 2> /dev/null && fail "the killed run ended well"
# Whoever was left holds the folder's lock until it has noticed.
for _ in $(seq 100); do
  "$mine" train --resume killed --json > resumed.json 2> resumed.txt && break
  grep -q "another process is training" resumed.txt || fail "$(cat resumed.txt)"
  sleep 0.1
done
[ "$(field weights_sha256 resumed.json)" = "$(field weights_sha256 whole.json)" ] ||
  fail "resumed: $(tail -n 1 resumed.json), undisturbed: $(tail -n 1 whole.json)"

"$mine" eval --run whole --checkpoint last --json > eval.json
[ "$(field weights_sha256 eval.json)" = "$(field weights_sha256 whole.json)" ] || fail "eval: $(cat eval.json)"
"$mine" predict --run whole --output predictions.csv
[ "$(wc -l < predictions.csv)" = 2001 ] || fail "predictions of 2000 samples: $(wc -l < predictions.csv) lines"
"$mine" bench step --model mine --json | grep -q '"model":"mine"' || fail "bench step does not measure mine"

# The run folder describes the network, so the plain program knows it too.
"$trireme" eval --run whole --checkpoint last --json > plain.json
[ "$(field weights_sha256 plain.json)" = "$(field weights_sha256 whole.json)" ] || fail "plain: $(cat plain.json)"
