# What the checks of the examples share. Sourced by <example>.sh, which gets the example's program and the installed
# trireme.

mine=$1
trireme=$2

fail() {
  echo "$*" >&2
  exit 1
}

# field NAME FILE: a field of the JSON summary on the last line of FILE.
field() {
  tail -n 1 "$2" | grep -o "\"$1\":[^,}]*" | head -n 1 | cut -d: -f2 | tr -d '"'
}

# learnt FILE LEAST: the summary's test accuracy is at least LEAST.
learnt() {
  awk -v is="$(field test_accuracy "$1")" -v least="$2" 'BEGIN { exit !(is >= least) }' ||
    fail "$1: test accuracy $(field test_accuracy "$1"), expected at least $2"
}

# refused WORDS PROGRAM ARGUMENT...: exit code 2 and one line that has these words.
refused() {
  local words=$1 code=0
  shift
  "$@" > refused.txt 2>&1 || code=$?
  [ "$code" = 2 ] && [ "$(wc -l < refused.txt)" = 1 ] && grep -qF "$words" refused.txt ||
    fail "exit code $code, expected 2 and '$words': $(cat refused.txt)"
}
