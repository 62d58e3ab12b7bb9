#!/usr/bin/env bash
# tools/skipped.sh BUILD: the tests that the last ctest run in BUILD skipped, and what they lacked.
set -euo pipefail
build=$1
log="$build/Testing/Temporary/LastTest.log"
[ -r "$log" ] || { echo "skipped.sh: error: $log is not there; run ctest first" >&2; exit 1; }

# GoogleTest says "FILE:LINE: Skipped" and the reason in the next line, scripts "skipped: REASON".
reasons=$(awk '/: Skipped$/ { getline; print } sub(/^skipped: /, "") { print }' "$log" | sort | uniq -c | sort -rn)
if [ -z "$reasons" ]; then
  echo "No test was skipped."
  exit 0
fi
echo "Skipped:"
sed -E 's/^ *([0-9]+) /  \1 x /' <<<"$reasons"
