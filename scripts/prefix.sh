#!/bin/bash
# scripts/prefix.sh install|uninstall BUILD PREFIX: puts the build folder BUILD into PREFIX with cmake --install, or
# removes what that put there. PREFIX/share/trireme/installed.txt lists it: files, and folders (with a slash at the end)
# that were not there before. uninstall reads that list, so BUILD may be gone or belong to another prefix; without it,
# it takes CMake's manifest in BUILD if that is of PREFIX. DESTDIR is put before all paths, as CMake does.
set -euo pipefail

what=$1 build=$2 prefix=$(realpath -m "$3")
root=${DESTDIR:-}$prefix
list_name=$prefix/share/trireme/installed.txt
list=${DESTDIR:-}$list_name

folders() { if [[ -d $root ]]; then find "$root" -mindepth 1 -maxdepth 4 -type d; fi; }

# Every folder between the prefix and the files named on standard input.
folders_of_files() {
  while IFS= read -r file || [[ -n $file ]]; do
    while file=${file%/*}; [[ $file == "$prefix"/* ]]; do echo "$file"; done
  done | sort -u
}

folders_with_our_name() { folders_of_files | sed -n 's|^\(.*/trireme\)$|\1/|p'; }

install_files() {
  local before made_prefix="" old
  [[ -d $root ]] || made_prefix=$prefix/
  before=$(folders | sed "s|^${DESTDIR:-}||" | sort)
  old=$(cat "$list" 2>/dev/null || true)
  cmake --install "$build" --prefix "$prefix"
  {
    # An earlier installation may have had files and made folders that this one did not.
    printf '%s\n' "$list_name" "$made_prefix" "$old"
    sed -e '$a\' "$build/install_manifest.txt"
    comm -13 <(echo "$before") <(folders_of_files < "$build/install_manifest.txt") | sed 's|$|/|'
    folders_with_our_name < "$build/install_manifest.txt"
  } | sed '/^$/d' | LC_ALL=C sort -u > "$list.new"
  mv "$list.new" "$list"
}

# What stands in the list, or in CMake's manifest; that knows no folders, so only those with our name count as ours.
listed() {
  local manifest=$build/install_manifest.txt other
  if [[ -f $list ]]; then
    cat "$list"
  elif [[ ! -f $manifest ]]; then
    echo "make uninstall: nothing to remove: $list does not exist, and neither does $manifest" >&2
    return 1
  elif ! grep -qxF "$prefix/bin/trireme" "$manifest"; then
    other=$(sed -n 's|/bin/trireme$||p' "$manifest")
    echo "make uninstall: $prefix has no share/trireme/installed.txt, and $manifest is of an installation into" \
      "$other; nothing was removed. To remove that one: make uninstall PREFIX=$other" >&2
    return 1
  else
    sed -e '$a\' "$manifest"
    folders_with_our_name < "$manifest"
  fi
}

uninstall_files() {
  local all files=0 path
  all=$(listed)
  while IFS= read -r path; do
    [[ $path == "$prefix"/* && $path != */ && $path != *"/../"* ]] || continue
    if [[ -e ${DESTDIR:-}$path || -L ${DESTDIR:-}$path ]]; then
      rm -f -- "${DESTDIR:-}$path"
      files=$((files + 1))
    fi
  done <<< "$all"
  # The deepest first; a folder with somebody else's files stays.
  while IFS= read -r path; do
    [[ $path == "$prefix"/ || $path == "$prefix"/*/ ]] && [[ $path != *"/../"* ]] || continue
    [[ -d ${DESTDIR:-}$path ]] || continue
    if [[ $path == */trireme/ ]]; then find "${DESTDIR:-}$path" -type d -empty -delete; fi
    if [[ -d ${DESTDIR:-}$path ]]; then rmdir --ignore-fail-on-non-empty -- "${DESTDIR:-}$path"; fi
  done <<< "$(LC_ALL=C sort -r <<< "$all")"
  echo "removed $files files from $root"
}

case $what in
  install) install_files ;;
  uninstall) uninstall_files ;;
  *) echo "prefix.sh: install or uninstall, not '$what'" >&2; exit 2 ;;
esac
