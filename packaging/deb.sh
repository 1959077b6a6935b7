#!/bin/bash
# packaging/deb.sh FOLDER: builds the Debian packages of this tree in FOLDER (trireme, trireme-mpi, libtrireme-dev) from
# a copy of its sources, and checks them with lintian. The version is that of the program; debian/changelog is made from
# it, so that it stands in one place.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath -m "$1")

IFS=';' read -r version revision date < <(cmake -DSOURCE="$PWD" -DONLY_PRINT=yes -P cmake/version.cmake)
source=$folder/trireme-$version
rm -rf "$source"
rm -f "$folder"/*.deb "$folder"/*.buildinfo "$folder"/*.changes
mkdir -p "$source"
if [[ -e .git ]]; then
  git ls-files -z --cached --others --exclude-standard | grep -zvxFf <(git ls-files --deleted) |
    tar -c --null -T - | tar -x -C "$source"
else
  tar -c --exclude='./build*' --exclude=./runs . | tar -x -C "$source"
fi
if [[ $revision != 'unknown revision' ]]; then
  printf 'describe: %s\ndate: %s\n' "$revision" "$date" > "$source/cmake/archive.txt"
fi
cp -r packaging/debian "$source/debian"
cat > "$source/debian/changelog" <<END
trireme ($version) unstable; urgency=medium

  * Built from the sources at $revision; CHANGELOG.md says what changed.

 -- $(sed -n 's/^Maintainer: //p' packaging/debian/control)  $(date -R ${date:+-d "$date UTC"})
END

# The build has a home folder of its own; ccache goes on with the usual cache.
if command -v ccache >/dev/null; then
  export CCACHE_DIR=${CCACHE_DIR:-$(ccache -k cache_dir)}
fi
cd "$source"
dpkg-buildpackage -us -uc -b -j"$(nproc)"
cd "$folder"
rm -rf "$source"
lintian --profile debian --allow-root --fail-on error ./*.changes
ls -l ./*.deb
