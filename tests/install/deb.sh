#!/bin/bash
# tests/install/deb.sh FOLDER [ROOT]: installs the packages of FOLDER (make deb) into a fresh Debian 12, trains there as
# a user would, removes them, and looks for what is left. Needs root and a Debian mirror: MIRROR, else the one that apt
# uses here. The Debian is made in ROOT and kept, so that a second call starts sooner; without ROOT it is temporary.
set -euo pipefail
packages=$(realpath "$1")
if [[ $(id -u) != 0 ]]; then
  echo "tests/install/deb.sh: debootstrap and chroot need root" >&2
  exit 1
fi

# Mounts live in a namespace of their own, which ends with this script however it ends.
if [[ -z ${TRIREME_DEB_TEST:-} ]]; then
  root=${2:-$(mktemp -d /var/tmp/trireme-deb.XXXXXX)}
  if [[ -z ${2:-} ]]; then trap 'rm -rf --one-file-system "$root"' EXIT; fi
  TRIREME_DEB_TEST=yes unshare --mount --propagation private "$0" "$packages" "$root"
  exit
fi
root=$2

inside() { chroot "$root" env -i HOME=/root LC_ALL=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"; }
install() { inside DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@" >/dev/null; }
fail() { echo "FAILED: $*" >&2; exit 1; }
step() { echo "== $*"; }
# Every file and folder of the system; what the kernel and apt keep for themselves aside.
files() { inside find / -xdev -path /tmp -prune -o -path /var/cache -prune -o -path /var/log -prune -o -print; }

if [[ ! -e $root/etc/debian_version ]]; then
  mirror=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' | head -1)}
  step "debootstrap from ${mirror:=http://deb.debian.org/debian}"
  debootstrap --variant=minbase bookworm "$root" "$mirror" >/dev/null
fi
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount -t tmpfs tmpfs "$root/tmp"
mount --rbind /dev "$root/dev"
cp /etc/resolv.conf "$root/etc/resolv.conf"
cp "$packages"/trireme_*.deb "$root/tmp/trireme.deb"
cp "$packages"/trireme-mpi_*.deb "$root/tmp/trireme-mpi.deb"
inside apt-get update -qq
install man-db
files | sort > "$root/tmp/before"

step "install"
install /tmp/trireme.deb
inside dpkg -s dataset-fashion-mnist >/dev/null || fail "the recommended dataset is not installed"
version=$(inside dpkg-query -W -f '${Version}' trireme)
inside trireme --version
[[ $(inside trireme --version) == "trireme $version "* ]] || fail "--version is not the package's $version"

step "train"
inside trireme train --model lenet5 --data synthetic --steps 30 --run /tmp/a
inside trireme eval --run /tmp/a
hash() { sed -n 's/^weights //p'; }
one=$(inside trireme train --model lenet5 --data synthetic --steps 30 --run /tmp/b | hash)
two=$(inside trireme train --model lenet5 --data synthetic --steps 30 --run /tmp/c --workers 2 | hash)
[[ -n $one && $one == "$two" ]] || fail "two workers end with other weights: '$one' and '$two'"
echo "one worker and two: $one"
inside trireme train --epochs 1 --model lenet5 --data fashion-mnist --run /tmp/d
inside env -C /tmp trireme train

step "manual pages and completions"
inside man -P cat trireme | grep 'train deep neural networks' >/dev/null || fail "man trireme does not render"
inside man -P cat trireme-train | grep -- '--strategy' >/dev/null || fail "man trireme-train does not render"
warnings=$(inside bash -c 'for page in /usr/share/man/man1/trireme*; do
  man --warnings -l "$page" 2>&1 >/dev/null; done')
[[ -z $warnings ]] || fail "man warns: $warnings"
[[ -s $root/usr/share/zsh/vendor-completions/_trireme ]] || fail "no completion for zsh"
inside bash -c 'source /usr/share/bash-completion/completions/trireme
  COMP_WORDS=(trireme tra) COMP_CWORD=1; _trireme; [[ ${COMPREPLY[*]} == train ]]' || fail "bash does not complete"

step "the transport over MPI"
install /tmp/trireme-mpi.deb
inside bash -c 'cd /tmp && OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
  mpirun --oversubscribe -n 2 trireme train --model lenet5 --data synthetic --steps 30 --workers 2 \
  --transport mpi --run /tmp/e' > "$root/tmp/mpi.log" 2>&1 || { cat "$root/tmp/mpi.log"; fail "mpirun"; }
[[ $(hash < "$root/tmp/mpi.log") == "$one" ]] || { cat "$root/tmp/mpi.log"; fail "other weights over MPI"; }

step "remove"
inside DEBIAN_FRONTEND=noninteractive apt-get purge -y -qq trireme trireme-mpi >/dev/null
if inside dpkg -l 'trireme*' 2>/dev/null | grep '^[a-z][^n] ' >/dev/null; then fail "dpkg still knows trireme"; fi
files | sort > "$root/tmp/after"
left=$(comm -13 "$root/tmp/before" "$root/tmp/after" | grep -i trireme || true)
[[ -z $left ]] || fail "left behind: $left"
inside DEBIAN_FRONTEND=noninteractive apt-get autoremove --purge -y -qq >/dev/null
files | sort > "$root/tmp/after"
comm -13 "$root/tmp/before" "$root/tmp/after" | sed 's/^/left by other packages: /'
echo "the packages install, train and go"
