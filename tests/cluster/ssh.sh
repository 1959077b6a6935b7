#!/bin/bash
# Jobs over real ssh: a desk and two hosts, each a network namespace with its own sshd, on one bridge.
. "$(dirname "$0")/common.sh"
need_root "making network namespaces"
need ip ssh ssh-keygen /usr/sbin/sshd unshare
need_build

prefix=trireme$$
hosts="desk a b"
made_run_sshd=""

clean() {
  for host in $hosts; do
    # Whatever still runs there was started here.
    ip netns pids "$prefix-$host" 2>/dev/null | xargs -r kill -9 2>/dev/null || true
    ip netns delete "$prefix-$host" 2>/dev/null || true
    rm -rf "/etc/netns/$prefix-$host"
  done
  ip netns delete "$prefix-switch" 2>/dev/null || true
  rmdir /etc/netns 2>/dev/null || true
  [ -z "$made_run_sshd" ] || rmdir /run/sshd 2>/dev/null || true
}

# The network. As on Debian, a host's own name means its loopback; that must not be where others look for it.
ip netns add "$prefix-switch" 2>"$folder/why" || skip "no network namespaces here: $(cat "$folder/why")"
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
  ip -n "$namespace" address add "10.78.0.$number/24" dev eth0
  mkdir -p "/etc/netns/$namespace"
  printf '127.0.0.1 localhost\n127.0.1.1 %s\n10.78.0.1 desk\n10.78.0.2 a\n10.78.0.3 b\n' "$host" |
    awk -v own="$host" '!($1 ~ /^10/ && $2 == own)' >"/etc/netns/$namespace/hosts"
done
# on HOST COMMAND...: runs it there.
cat >on <<SCRIPT
#!/bin/sh
exec ip netns exec "$prefix-\$1" unshare --uts sh -c 'hostname "\$0" && exec "\$@"' "\$@"
SCRIPT
chmod +x on
PATH=$folder:$PATH

# The keys and servers.
ssh-keygen -q -t ed25519 -N '' -f key
ssh-keygen -q -t ed25519 -N '' -f host_key
for host in a b; do echo "$host $(cut -d' ' -f1-2 host_key.pub)"; done >known_hosts
cp key.pub authorized_keys
[ -d /run/sshd ] || { mkdir -p /run/sshd; made_run_sshd=yes; }
cat >sshd_config <<CONFIG
Port 22
HostKey $folder/host_key
AuthorizedKeysFile $folder/authorized_keys
PidFile none
StrictModes no
UsePAM no
PermitRootLogin prohibit-password
PasswordAuthentication no
CONFIG
for host in a b; do on "$host" /usr/sbin/sshd -D -e -f "$folder/sshd_config" 2>"sshd-$host.log" & disown; done
ssh="ssh -F /dev/null -i $folder/key -o UserKnownHostsFile=$folder/known_hosts -o StrictHostKeyChecking=yes"
for host in a b; do
  until_true on desk $ssh -o BatchMode=yes "$host" true || { cat "sshd-$host.log"; fail "ssh to $host does not work"; }
  [ "$(on desk $ssh "$host" hostname)" = "$host" ] || fail "ssh to $host reaches another host"
done
say "ssh to both hosts works"

# Ranks find together from everywhere.
launch() {
  local part=$1 quoted=""
  shift
  for host in "$@"; do quoted="$quoted,\"$host\""; done
  printf '{"world":%d,"hosts":[%s],"ssh":"%s","command":["%s","rank","%s"]}' $# "${quoted#,}" "$ssh" "$helper" "$part"
}
expect 0 "2 ranks met by ssh" "rank 0 on another host" on desk "$helper" launch "$(launch sum a b)"
expect 0 "3 ranks met by ssh" "rank 0 here" on desk "$helper" launch "$(launch sum localhost a b)"
expect 0 "4 ranks met by ssh" "two ranks a host" on desk "$helper" launch "$(launch sum a a b b)"

# What goes wrong is named.
expect 1 "test_cluster: rank 2 on host b was killed by signal 9 (SIGKILL)" "a killed rank" \
  on desk "$helper" launch "$(launch die a a b)"
expect 2 "test_cluster: rank 1 on host nowhere: ssh: Could not resolve hostname nowhere" "an unknown host" \
  on desk "$helper" launch "$(launch sum a nowhere)"
expect 2 "test_cluster: rank 1 on host 10.78.0.99: ssh: connect to host 10.78.0.99 port 22: No route to host" \
  "a host that is off" on desk "$helper" launch "$(launch sum a 10.78.0.99)"
expect 2 "test_cluster: rank 0 on host desk could not be started" "a host without sshd" \
  on desk "$helper" launch "$(launch sum desk a)"

# A signal at the launcher ends ranks on other hosts in good order; and none outlives its launcher.
ranks_on() { ip netns pids "$prefix-$1" | xargs -rI{} cat /proc/{}/cmdline 2>/dev/null | tr '\0' ' ' | grep -c "rank wait"; }
are_working() { [ "$(ranks_on a)" -ge 1 ] && [ "$(ranks_on b)" -ge 1 ] && grep -q "ranks met" "$folder/waits"; }
are_gone() { [ "$(ranks_on a)" = 0 ] && [ "$(ranks_on b)" = 0 ]; }
start_waiting() {
  on desk "$helper" launch "$(launch wait a b)" >"$folder/waits" 2>&1 </dev/null &
  launcher=$!
  until_true are_working || { cat "$folder/waits"; fail "ranks that wait did not come"; }
}
start_waiting
kill -TERM "$launcher"
wait "$launcher" || { cat "$folder/waits"; fail "an interrupted job ended with exit code $?"; }
say "an interrupted job: it has ended in good order"
start_waiting
kill -KILL "$launcher"
wait "$launcher" 2>/dev/null || true
until_true are_gone || fail "ranks outlived their launcher"
say "a killed launcher: its ranks have ended"

# A job of training, as a user starts it.
expect_same_bits "two hosts by ssh" \
  on desk "$trireme" "${job[@]}" --workers 2 --strategy allreduce --hosts a,b --ssh "$ssh"
expect_same_bits "two workers on each of two hosts, in two levels" \
  on desk "$trireme" "${job[@]}" --workers 4 --strategy ps:levels=2 --hosts a,b --ssh "$ssh"
expect_same_bits "this host and another" \
  on desk "$trireme" "${job[@]}" --workers 2 --strategy allreduce --hosts localhost,b --ssh "$ssh"

# Every host reports on itself, and the totals are those of both.
timeout -k 5 "$deadline" on desk "$trireme" train --model lenet5 --data synthetic --batch 32 --oars 8 --epochs 4 --json \
  --quiet --workers 2 --strategy allreduce --hosts a,b --ssh "$ssh" --run "$folder/watched" >"$folder/summary" \
  2>"$folder/errors" </dev/null || { cat "$folder/errors"; fail "the job that is watched failed"; }
python3 - "$folder/watched" <<'PYTHON' || fail "resources of two hosts"
import json, pathlib, sys
run = pathlib.Path(sys.argv[1])
summary = json.loads((run / "summary.json").read_text())
lines = [json.loads(line) for line in (run / "resources.jsonl").read_text().splitlines()]
of_hosts = [line for line in lines if line["rank"] is None]
assert {line["host"] for line in of_hosts} == {"a", "b"}, of_hosts
assert {(line["host"], line["rank"]) for line in lines if line["rank"] is not None} == {("a", 0), ("b", 1)}, lines
cluster, workers = summary["cluster"], summary["per_worker"]
assert cluster["hosts"] == 2, cluster
# What the workers sent, with headers and other traffic; the last second of host b may be missing.
payload = sum(worker["received_bytes"] for worker in workers)
received = sum(line["network_received_bytes"] for line in of_hosts)
assert 0.3 * payload < received < 2 * payload, (payload, received)
assert cluster["network_bytes"] == received and cluster["network_peak_bytes_per_second"] > 0, cluster
PYTHON
say "resources of two hosts: each by itself, and in all"
