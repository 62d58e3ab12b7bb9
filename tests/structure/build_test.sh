#!/usr/bin/env bash
# build_test.sh BUILD: nibu-translate is built without the folders that it does not use.
set -euo pipefail
build=$1
[ -f "$build/build.ninja" ] && command -v ninja >/dev/null || { echo "skipped: the build is not ninja's"; exit 77; }
commands=$(ninja -C "$build" -t commands nibu-translate)
grep -q 'nibu_cli\.dir' <<<"$commands" || { echo "the test does not know the folders' libraries any more" >&2; exit 1; }
if grep -oE 'nibu_(serve|bench|inspect|c)\.dir/[^ ]*\.o|[a-z_]*fuzz\.dir' <<<"$commands" | sort -u | grep . >&2; then
  echo "nibu-translate needs none of these" >&2
  exit 1
fi
