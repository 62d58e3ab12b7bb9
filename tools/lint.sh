#!/usr/bin/env bash
# tools/lint.sh BUILD: clang-tidy over nibu's sources, with the compile commands of a build folder.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${1:-build/release}
git ls-files 'engine/*.cc' 'models/*.cc' 'tokenizer/*.cc' 'tools/*.cc' |
  xargs -P "$(nproc)" -n 4 clang-tidy -p "$build" --quiet --warnings-as-errors='*' 2>/dev/null
