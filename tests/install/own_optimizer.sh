# The example's optimizer: listed with its options, and a network of the zoo that learns by it with a server.
. "$(dirname "$0")/common.sh"

"$mine" list optimizers | grep -q 'lion:lr=0.0001,beta1=0.9,beta2=0.99' || fail "lion is not listed with its options"
refused "lion:beta1 is 2" "$mine" train --optimizer lion:beta1=2 --run refused
"$mine" train --model mnist-cnn --data synthetic --train-samples 3200 --epochs 1 --workers 2 --strategy ps:mode=sync \
  --optimizer lion:lr=1e-3 --run run --json > run.json
learnt run.json 0.9
