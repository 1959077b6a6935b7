#!/bin/sh
# scripts/packages.sh SET...: makes sure that the Debian packages of the given sets (core test peer pypi cluster bench lint fuzz
# deb debootstrap) are there. Missing ones are installed when this user may do that; otherwise the one command to run is
# printed and the exit code is 1. Costs a few hundredths of a second when nothing is missing.
set -eu

# The data set is core because `make train` learns it.
core="g++ cmake ninja-build libdnnl-dev libspdlog-dev libfmt-dev libcli11-dev nlohmann-json3-dev libtomlplusplus-dev
  libhwloc-dev libxxhash-dev zlib1g-dev liblzma-dev libzstd-dev libpng-dev libjpeg-dev libpango1.0-dev
  libssl-dev libcpp-httplib-dev libjs-chart.js fonts-dejavu-core
  dataset-fashion-mnist"
test="libgtest-dev libjpeg-turbo-progs xz-utils iproute2 libopenmpi-dev openmpi-bin python3"
# Without OpenBLAS, Debian's PyTorch multiplies matrices with the slow reference BLAS. Chromium shows the page of runs.
peer="python3-numpy python3-torch python3-sklearn libopenblas0 prometheus
  chromium chromium-driver python3-selenium"
pypi="python3-venv"
cluster="openssh-client openssh-server munge slurm-wlm"
bench="libbenchmark-dev"
lint="clang-format clang-tidy libomp-dev libopenmpi-dev"
deb="build-essential debhelper dpkg-dev lintian libopenmpi-dev"
debootstrap="debootstrap"
fuzz="clang libclang-rt-14-dev libomp-dev libgtest-dev"

wanted=""
for set in "$@"; do
  case $set in
    core) wanted="$wanted $core" ;;
    test) wanted="$wanted $test" ;;
    peer) wanted="$wanted $peer" ;;
    pypi) wanted="$wanted $pypi" ;;
    cluster) wanted="$wanted $cluster" ;;
    bench) wanted="$wanted $bench" ;;
    lint) wanted="$wanted $lint" ;;
    fuzz) wanted="$wanted $fuzz" ;;
    deb) wanted="$wanted $deb" ;;
    debootstrap) wanted="$wanted $debootstrap" ;;
    *) echo "packages.sh: unknown set '$set'; the sets are core, test, peer, pypi, cluster, bench, lint, fuzz, deb" \
        "and debootstrap" >&2; exit 2 ;;
  esac
done

# Elsewhere than on Debian the build itself says what it misses.
command -v dpkg-query >/dev/null 2>&1 || exit 0

# dpkg-query fails when a package was never heard of; what counts is the list of installed ones.
installed=" $(dpkg-query -W -f='${db:Status-Status} ${Package}\n' $wanted 2>/dev/null |
  sed -n 's/^installed //p' | tr '\n' ' ')"
missing=""
for package in $wanted; do
  case $installed in
    *" $package "*) ;;
    *) missing="$missing $package" ;;
  esac
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
  as_root=""
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
  as_root="sudo"
else
  echo "Debian packages are missing. Run this, then try again:" >&2
  echo "  sudo apt-get install -y --no-install-recommends$missing" >&2
  exit 1
fi

echo "Installing Debian packages:$missing"
$as_root apt-get update -qq
$as_root env DEBIAN_FRONTEND=noninteractive DEBCONF_NOWARNINGS=yes \
  apt-get install -y -qq --no-install-recommends $missing >/dev/null
