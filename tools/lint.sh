#!/usr/bin/env bash
# tools/lint.sh BUILD [HOURS [MINUTES]]: clang-tidy over nibu's sources, with the compile commands of a build
# folder. With HOURS, only those that changed in that time before the last commit, they or their header. With
# MINUTES, ends after that time, and says which files it has not seen.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${1:-build/release}
sources=$(git ls-files 'engine/*.cc' 'models/*.cc' 'tokenizer/*.cc' 'tools/*.cc')
if [ -n "${2:-}" ]; then
  last=$(git log -1 --format=%ct)
  base=$(git rev-list -1 --before="$((last - $2 * 3600))" HEAD)
  if [ -n "$base" ]; then
    changed=$(git diff --name-only --diff-filter=d "$base" -- '*.h' '*.cc' | sed 's/\.h$/.cc/' | sort -u)
    sources=$(grep -Fx "$changed" <<<"$sources" || true)
  fi
fi
count=$(grep -c . <<<"$sources" || true)
echo "clang-tidy over $count of $(git ls-files 'engine/*.cc' 'models/*.cc' 'tokenizer/*.cc' 'tools/*.cc' | wc -l) sources"
[ -n "$sources" ] || exit 0
seen=$(mktemp)
trap 'rm -f "$seen"' EXIT
export build seen end=$(($(date +%s) + ${3:-100000} * 60))
# shellcheck disable=SC2016
xargs -P "$(nproc)" -n 1 bash -c '
  [ "$(date +%s)" -lt "$end" ] || exit 0
  echo "$1" >>"$seen"
  clang-tidy -p "$build" --quiet --warnings-as-errors="*" "$1" 2>/dev/null' lint <<<"$(shuf <<<"$sources")"
left=$(grep -vFxf "$seen" <<<"$sources" || true)
[ -z "$left" ] || printf 'NOT LINTED, no time left: %s\n' "$(tr '\n' ' ' <<<"$left")"
