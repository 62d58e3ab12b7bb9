#!/usr/bin/env bash
# tools/dev/skipped.sh BUILD: how many tests the last ctest run in BUILD skipped, what they lacked, and what to install to
# run more; at most 12 lines. Testing/Temporary/LastTest.log there names each of them.
set -euo pipefail
build=$1
log="$build/Testing/Temporary/LastTest.log"
[ -r "$log" ] || { echo "skipped.sh: error: $log is not there; run ctest first" >&2; exit 1; }

# GoogleTest says "FILE:LINE: Skipped" and the reason in the next line, scripts "skipped: REASON".
reasons=$(awk '
  /: Skipped$/ { getline; ++n[$0] }
  sub(/^skipped: /, "") { ++n[$0] }
  END { for (reason in n) printf "%4d x %s\n", n[reason], reason }' "$log" | sort -rn)
sanitizers=$(sed -n 's/^NIBU_SANITIZE:[A-Z]*=//p' "$build/CMakeCache.txt")
case $sanitizers in
  "") ;;
  *thread*) echo "Not built for this sanitizer: fuzz targets, tests without a line \"// Threads:\", scripts, pages" ;;
  *) echo "Not run with sanitizers: tests of the installed package, the checks' script, recipes, pages and quality" ;;
esac
if [ -z "$reasons" ]; then
  echo "No test was skipped."
  exit 0
fi
most=8
kinds=$(wc -l <<<"$reasons")
echo "Skipped $(awk '{ sum += $1 } END { print sum }' <<<"$reasons"), for $kinds reasons ($log):"
head -n "$most" <<<"$reasons" | cut -c 1-120
[ "$kinds" -le "$most" ] || echo "     and $((kinds - most)) rarer reasons"
# These are the words with which tests name a program or a module that is missing.
if grep -qE "apt-get install|is not installed|there is no |has no |is missing|no pybind11" <<<"$reasons"; then
  echo "tools/setup.sh ci installs what these tests need from Debian's packages."
fi
