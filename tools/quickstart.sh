#!/usr/bin/env bash
# tools/quickstart.sh "TEXT": installs what is missing, builds what is not built, translates TEXT from
# English to German with the bundled model. The translation alone goes to standard output.
set -euo pipefail

if [ "$#" -eq 0 ]; then
  echo 'Usage: tools/quickstart.sh "TEXT" [nibu-translate flags]' >&2
  exit 2
fi
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build="$root/build/release"
program="$build/bin/nibu-translate"
log="$build/quickstart.log"
note() { echo "quickstart.sh: $*" >&2; }
first=0
[ -x "$program" ] || first=1

"$root/tools/setup.sh"

# Shows ninja's count of steps, "[3/58]": on a terminal in one line, elsewhere each tenth of them; the log has all.
progress() {
  local line step all shown=0
  while IFS= read -r line; do
    echo "$line" >>"$log"
    [[ $line =~ ^\[([0-9]+)/([0-9]+)\]\ (Building|Linking) ]] || continue
    step=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]}
    if [ -t 2 ]; then
      printf '\rquickstart.sh: building, step %d of %d ' "$step" "$all" >&2
    elif [ "$first" -eq 1 ] && [ $((step * 10 / all)) -gt "$shown" ]; then
      shown=$((step * 10 / all))
      note "building, step $step of $all"
    fi
  done
  [ ! -t 2 ] || [ -z "${all:-}" ] || echo >&2
}

mkdir -p "$build"
: >"$log"
[ "$first" -eq 0 ] || note "building nibu-translate, a few minutes the first time; the log is $log"
if ! { [ -f "$build/build.ninja" ] ||
  cmake -S "$root" --preset release -DNIBU_TESTS=OFF -DNIBU_WERROR="${NIBU_WERROR:-OFF}" >>"$log" 2>&1; } ||
  ! cmake --build "$build" --target nibu-translate 2>&1 | progress; then
  tail -n 40 "$log" >&2
  note "error: the build failed; the log is $log"
  exit 1
fi
[ "$first" -eq 0 ] || note "translating"
"$program" "$@"
[ "$first" -eq 0 ] || note "try next: $program --help; tools/get_model.sh for other languages; tools/test.sh for all else"
