#!/bin/bash
# Jobs under a real Slurm of one node, which is started for this script alone: own munge key, ports and folders.
. "$(dirname "$0")/common.sh"
need_root "starting Slurm"
need munged slurmctld slurmd srun sbatch scontrol
need_build

node=$(hostname -s)
getent hosts "$node" >/dev/null || skip "the name of this host, $node, is not in /etc/hosts"
cores=$(nproc)
port=$((20000 + $$ % 20000))
servers=()

clean() {
  [ ! -f "$folder/slurm.conf" ] || timeout 10 scancel --state=RUNNING 2>/dev/null || true
  for server in "${servers[@]}"; do kill "$server" 2>/dev/null || true; done
  for server in "${servers[@]}"; do
    for _ in $(seq 50); do kill -0 "$server" 2>/dev/null || break; sleep 0.1; done
    kill -9 "$server" 2>/dev/null || true
  done
}

# Authentication between the programs of Slurm. munged accepts only folders that nobody else can write to.
chmod 755 "$folder"
mkdir -m 755 munge
mkdir state spool
dd if=/dev/urandom of=munge/key bs=32 count=1 status=none
chmod 600 munge/key
munged --foreground --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" \
  --pid-file="$folder/munge/pid" --log-file="$folder/munge/log" --seed-file="$folder/munge/seed" 2>munge/errors &
servers+=($!)
until_true test -S munge/socket || { cat munge/errors munge/log; fail "munged did not start"; }

cat >slurm.conf <<CONFIG
ClusterName=trireme
SlurmctldHost=$node
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
NodeName=$node CPUs=$cores State=UNKNOWN
PartitionName=all Nodes=$node Default=YES State=UP OverSubscribe=YES
CONFIG
export SLURM_CONF=$folder/slurm.conf
slurmctld -D -i >slurmctld.out 2>&1 &
servers+=($!)
slurmd -D >slurmd.out 2>&1 &
servers+=($!)
run() { echo srun --overcommit --quiet --input=none -n "$1"; }
until_true timeout 5 $(run 2) hostname || { tail -n 20 slurm*.out slurm*.log; fail "srun -n 2 hostname does not work"; }
say "srun -n 2 hostname works"

# Ranks find together, with and without a secret of the user's; a script outside of srun has no launch info.
mkdir home
export HOME=$folder/home
expect 0 '"rank":1' "every task has launch info" $(run 2) "$helper" launch-info
grep -q '"launcher":"slurm".*"rank":0.*"world":2' "$folder/said" || { cat "$folder/said"; fail "task 0 has no launch info"; }
expect 0 "none" "one task has none" $(run 1) "$helper" launch-info
expect 0 "3 ranks met by slurm" "three tasks meet" $(run 3) "$helper" rank sum
[ "$(stat -c %a home/.trireme/job_secret)" = 600 ] || fail "others can read the secret of a user's jobs"
expect 0 '"token":' "launch info has a token" $(run 2) sh -c 'echo "slurm job $SLURM_JOB_ID step $SLURM_STEP_ID of user $(id -u)" >step.$SLURM_PROCID; exec "$0" launch-info' "$helper"
guess=$(printf %s "$(cat step.0)" | sha256sum | cut -d' ' -f1)
! grep -qF "$guess" "$folder/said" || fail "everybody can compute the token of a job"
say "nobody can compute the token of a job: ok"
expect 2 "export TRIREME_TOKEN=" "no place for a secret" env HOME=/dev/null $(run 2) "$helper" rank sum
expect 0 "2 ranks met by slurm" "with a token" env TRIREME_TOKEN=secret $(run 2) "$helper" rank sum
printf '#!/bin/sh\n"%s" launch-info\n%s "%s" launch-info\n' "$helper" "$(run 2)" "$helper" >batch.sh
expect 0 "" "a script is run" sbatch --wait --overcommit -n 2 --output="$folder/batch.out" batch.sh
[ "$(grep -c none batch.out)" = 1 ] && [ "$(grep -c '"launcher":"slurm"' batch.out)" = 2 ] ||
  { cat batch.out; fail "a script has no launch info, its two tasks have"; }
say "a script has no launch info, its tasks have: ok"

expect_same_bits "srun -n 2" $(run 2) "$trireme" "${job[@]}" --strategy allreduce
