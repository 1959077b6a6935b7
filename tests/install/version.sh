#!/bin/bash
# The version that cmake/version.cmake finds: at a tag, behind it, without one, and in source archives of each.
set -euo pipefail
source=$(realpath "$(dirname "$0")/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_DATE='2026-01-31T12:00:00Z' GIT_COMMITTER_DATE='2026-01-31T12:00:00Z'
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@a

mkdir -p "$work/tree/cmake" "$work/tree/src"
cp "$source/.gitattributes" "$work/tree/"
cp "$source"/cmake/{version.cmake,archive.txt} "$work/tree/cmake/"
printf 'project(trireme VERSION 0.1.0 LANGUAGES CXX)\n' > "$work/tree/CMakeLists.txt"
cd "$work/tree"

# expect TREE REGEX: "number;revision;date"
expect() {
  local found
  found=$(cmake -DSOURCE="$1" -DONLY_PRINT=yes -P "$1/cmake/version.cmake")
  [[ $found =~ ^$2$ ]] || { echo "FAILED: $1: '$found' is not $2" >&2; exit 1; }
}
# The tree and an archive of its last commit.
expect_both() {
  rm -rf "$work/archive"
  mkdir "$work/archive"
  git archive HEAD | tar -x -C "$work/archive"
  expect "$work/tree" "$1"
  expect "$work/archive" "$1"
}
commit() { git add -A && git commit -q --allow-empty -m "$1"; }

expect "$work/tree" '0\.1\.0;unknown revision;'
git init -q
commit first
expect_both '0\.1\.0;[0-9a-f]{7};2026-01-31'
git tag other
expect_both '0\.1\.0;[0-9a-f]{7};2026-01-31'
git tag v0.2.0
expect_both '0\.2\.0;v0\.2\.0;2026-01-31'
commit second
commit third
expect_both '0\.2\.0\+2\.g[0-9a-f]{7};v0\.2\.0-2-g[0-9a-f]{7};2026-01-31'
echo more >> CMakeLists.txt
expect "$work/tree" '0\.2\.0\+2\.g[0-9a-f]{7};v0\.2\.0-2-g[0-9a-f]{7}-dirty;2026-01-31'
git tag -a -m 'with a message' v0.3.0
expect "$work/archive" '0\.2\.0\+2\.g[0-9a-f]{7};.*'
expect "$work/tree" '0\.3\.0;v0\.3\.0-dirty;2026-01-31'
echo "versions are right"
