#!/bin/bash
# Who decides the time of a step, by `trireme trace`: three hosts, each a network namespace, whose clocks are 1000 s
# apart (time namespaces). First a worker is slow, then a link.
. "$(dirname "$0")/common.sh"
need_root "making network namespaces"
need ip tc unshare python3
[ -x "$trireme" ] || fail "nothing is built; run make test-cluster"

prefix=trireme$$
hosts="a b c"

clean() {
  for host in $hosts; do
    # Whatever still runs there was started here.
    ip netns pids "$prefix-$host" 2>/dev/null | xargs -r kill -9 2>/dev/null || true
    ip netns delete "$prefix-$host" 2>/dev/null || true
    rm -rf "/etc/netns/$prefix-$host"
  done
  ip netns delete "$prefix-switch" 2>/dev/null || true
  rmdir /etc/netns 2>/dev/null || true
}

ip netns add "$prefix-switch" 2>"$folder/why" || skip "no network namespaces here: $(cat "$folder/why")"
unshare --time --monotonic 1000 true 2>"$folder/why" || skip "no time namespaces here: $(cat "$folder/why")"
ip -n "$prefix-switch" link add bridge0 type bridge
ip -n "$prefix-switch" link set bridge0 up
number=0
for host in $hosts; do
  number=$((number + 1))
  namespace=$prefix-$host
  ip netns add "$namespace"
  ip link add eth0 netns "$namespace" type veth peer name "port-$host" netns "$prefix-switch"
  ip -n "$prefix-switch" link set "port-$host" master bridge0 up
  ip -n "$namespace" link set lo up
  ip -n "$namespace" link set eth0 up
  ip -n "$namespace" address add "10.79.0.$number/24" dev eth0
  mkdir -p "/etc/netns/$namespace"
  printf '127.0.0.1 localhost\n10.79.0.1 a\n10.79.0.2 b\n10.79.0.3 c\n' >"/etc/netns/$namespace/hosts"
done
# on HOST COMMAND...: runs it there, with a clock of its own.
cat >on <<SCRIPT
#!/bin/sh
case \$1 in a) ahead=0 ;; b) ahead=1000 ;; c) ahead=2000 ;; esac
exec ip netns exec "$prefix-\$1" unshare --uts --time --monotonic \$ahead --fork --kill-child \
  sh -c 'hostname "\$0" && exec "\$@"' "\$@"
SCRIPT
# hop [OPTIONS] HOST COMMAND: in place of ssh.
cat >hop <<SCRIPT
#!/bin/sh
while [ \$# -gt 0 ]; do case \$1 in a | b | c) break ;; esac; shift; done
host=\$1
shift
exec "$folder/on" "\$host" sh -c "\$*"
SCRIPT
chmod +x on hop
PATH=$folder:$PATH

# train NAME OPTIONS...: a run of three workers, one on each host.
train() {
  local name=$1
  shift
  timeout -k 5 "$deadline" on a "$trireme" train --batch 240 --oars 6 --threads 1 --steps 24 --workers 3 --assign even --pin no --hosts a,b,c --ssh "$folder/hop" --quiet \
    --run "$folder/$name" "$@" >"$folder/said" 2>&1 </dev/null || { cat "$folder/said"; fail "the run $name failed"; }
}

synthetic=(--data synthetic --train-samples 960 --test-samples 32)

# expect_culprit NAME PYTHON: of the path, as a dictionary.
expect_culprit() {
  "$trireme" trace "$folder/$1" --json >"$folder/path.json"
  python3 -c "import json; path = json.load(open('$folder/path.json')); assert $2" 2>"$folder/why" ||
    { "$trireme" trace "$folder/$1"; cat "$folder/why"; fail "$1: the culprit is not named"; }
  say "$1: $(python3 -c "import json; print(json.load(open('$folder/path.json'))['decided_by'])")"
}

# Of every arrow of a trace: it does not end before it begins by more than the bounds of both clocks.
expect_arrows() {
  python3 - "$folder/$1/trace.json" <<'PYTHON'
import json, sys
begins, ends, bounds = {}, {}, {}
for event in json.load(open(sys.argv[1]))["traceEvents"]:
    if event["name"] == "clock":
        bound = event["args"]["bound_us"]
        bounds[event["args"]["process"]] = max(bound, bounds.get(event["args"]["process"], 0))
    if event["ph"] in "sf":
        (begins if event["ph"] == "s" else ends)[event["id"]] = event
arrows, worst = 0, 0
for number, begin in begins.items():
    if number not in ends:
        continue
    end, arrows = ends[number], arrows + 1
    bound = bounds.get(begin["pid"], 0) + bounds.get(end["pid"], 0)
    early = begin["ts"] - end["ts"]
    worst = max(worst, early)
    assert early <= bound, f"received {early} us before it was sent; the bound is {bound}"
assert arrows > 20, f"{arrows} arrows"
print(f"{arrows} arrows; bounds in us: {bounds}; the earliest end is {worst:.1f} us before its begin")
PYTHON
}

train worker "${synthetic[@]}" --model lenet5 --slow worker=1,factor=20
expect_culprit worker "path['decides']['phase'] == 'backward' and path['decides']['process'] == 'worker 1 on b'"
expect_arrows worker

tc -n "$prefix-switch" qdisc add dev port-c root tbf rate 100mbit burst 64kb latency 500ms
tc -n "$prefix-c" qdisc add dev eth0 root tbf rate 100mbit burst 64kb latency 500ms
train link "${synthetic[@]}" --model mlp:hidden=512x512
expect_culprit link "path['decides']['phase'] == 'network' and path['bucket']['waited_for'] == 'worker 2 on c'"
train link-to-servers "${synthetic[@]}" --model mlp:hidden=512x512 --strategy ps --servers 1 --server-hosts c
expect_culprit link-to-servers "path['decides']['phase'] == 'network' and path['bucket']['waited_for'] == 'server 0 on c'"
expect_arrows link-to-servers
