#!/usr/bin/env bash
# tools/lint.sh BUILD [HOURS]: clang-tidy over nibu's sources, with the compile commands of a build folder.
# With HOURS, only those that changed in that time before the last commit, they or their header.
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
echo "clang-tidy over $(grep -c . <<<"$sources" || true) of $(git ls-files 'engine/*.cc' 'models/*.cc' 'tokenizer/*.cc' 'tools/*.cc' | wc -l) sources"
[ -z "$sources" ] ||
  xargs -P "$(nproc)" -n 4 clang-tidy -p "$build" --quiet --warnings-as-errors='*' <<<"$sources" 2>/dev/null
