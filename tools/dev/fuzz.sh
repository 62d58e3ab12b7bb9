#!/usr/bin/env bash
# tools/dev/fuzz.sh SECONDS: runs every fuzz target (tests/fuzz) on its corpus and for that long beyond it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
seconds=${1:-60}
cmake --preset fuzz >/dev/null
cmake --build build/fuzz --target fuzzers
found=$(mktemp -d)
trap 'rm -rf "$found"' EXIT
for target in build/fuzz/bin/*_fuzz; do
  name=$(basename "$target" _fuzz)
  mkdir -p "$found/$name"
  echo "$name"
  "$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=0 \
    -artifact_prefix="$found/" "$found/$name" "tests/fuzz/corpus/$name" 2>"$found/log" ||
    { tail -n 30 "$found/log" >&2; exit 1; }
done
