#!/usr/bin/env bash
# tools/dev/lint.sh [BUILD [COMMIT [MINUTES]]]: clang-tidy over nibu's sources, with the compile commands of a build
# folder that has NIBU_UNITY off, as build/fuzz has. What that folder does not compile, as the Python package in a
# build with sanitizers, is read with flags of this script. With COMMIT, only sources that changed since, they or their
# header. With MINUTES, begins no further file after that time, says which files it has not seen, and exits with 3 if it
# found nothing in the others.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=${1:-build/fuzz}
sources=$(git ls-files 'engine/*.cc' 'models/*.cc' 'tokenizer/*.cc' 'tools/*.cc')
if [ -n "${2:-}" ]; then
  changed=$(git diff --name-only --diff-filter=d "$2" -- '*.h' '*.cc' | sed 's/\.h$/.cc/' | sort -u)
  sources=$(grep -Fx "$changed" <<<"$sources" || true)
fi
count=$(grep -c . <<<"$sources" || true)
echo "clang-tidy over $count of $(git ls-files 'engine/*.cc' 'models/*.cc' 'tokenizer/*.cc' 'tools/*.cc' | wc -l) sources"
[ -n "$sources" ] || exit 0
seen=$(mktemp)
trap 'rm -f "$seen"' EXIT
python=$(/usr/bin/python3 -c 'import sysconfig; print(sysconfig.get_path("include"))')
export build seen python end=$(($(date +%s) + ${3:-100000} * 60))
# shellcheck disable=SC2016
xargs -P "$(nproc)" -n 1 bash -c '
  [ "$(date +%s)" -lt "$end" ] || exit 0
  echo "$1" >>"$seen"
  flags=(-std=c++20 -fvisibility=hidden -I. -Itools/text -Iengine "-I$build/include" -isystem "$python")
  if grep -qF "/$1\"" "$build/compile_commands.json"; then
    clang-tidy -p "$build" --quiet --warnings-as-errors="*" "$1" 2>/dev/null
  else
    clang-tidy --quiet --warnings-as-errors="*" "$1" -- "${flags[@]}" 2>/dev/null
  fi' lint <<<"$(shuf <<<"$sources")"
left=$(grep -vFxf "$seen" <<<"$sources" || true)
if [ -n "$left" ]; then
  printf 'NOT LINTED, no time left: %s\n' "$(tr '\n' ' ' <<<"$left")"
  exit 3
fi
