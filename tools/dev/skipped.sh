#!/usr/bin/env bash
# tools/dev/skipped.sh BUILD: the tests that the last ctest run in BUILD skipped, and what they lacked.
set -euo pipefail
build=$1
log="$build/Testing/Temporary/LastTest.log"
[ -r "$log" ] || { echo "skipped.sh: error: $log is not there; run ctest first" >&2; exit 1; }

# GoogleTest says "FILE:LINE: Skipped" and the reason in the next line, scripts "skipped: REASON".
reasons=$(awk '
  /: Skipped$/ { place = $0; sub(/: Skipped$/, "", place); sub(/.*\//, "", place); getline; ++n[$0]; at[$0] = at[$0] " " place }
  sub(/^skipped: /, "") { ++n[$0] }
  END { for (reason in n) printf "%4d x %s%s\n", n[reason], reason, at[reason] == "" ? "" : ":" at[reason] }' "$log" | sort -rn)
sanitizers=$(sed -n 's/^NIBU_SANITIZE:[A-Z]*=//p' "$build/CMakeCache.txt")
case $sanitizers in
  "") ;;
  *thread*) reasons+="${reasons:+$'\n'}   not built for it: fuzz targets, and tests without a line \"// Threads:\", scripts, pages" ;;
  *) reasons+="${reasons:+$'\n'}   not run with it: tests of the installed package, the checks' script, recipes, pages and quality" ;;
esac
if [ -z "$reasons" ]; then
  echo "No test was skipped."
  exit 0
fi
echo "Skipped:"
echo "$reasons"
