#!/usr/bin/env bash
# tools/quickstart.sh "TEXT": installs what is missing, builds what is not built, translates TEXT from
# English to German with the bundled model.
set -euo pipefail

if [ "$#" -eq 0 ]; then
  echo 'Usage: tools/quickstart.sh "TEXT" [nibu-translate flags]' >&2
  exit 2
fi
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build="$root/build/release"
program="$build/bin/nibu-translate"

"$root/tools/setup.sh"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
[ -x "$program" ] || echo "quickstart.sh: building nibu, a few minutes the first time" >&2
if ! { { [ -f "$build/build.ninja" ] || cmake -S "$root" --preset release -DNIBU_TESTS=OFF -DNIBU_WERROR="${NIBU_WERROR:-OFF}"; } &&
  cmake --build "$build" --target nibu-translate; } >"$log" 2>&1; then
  tail -n 40 "$log" >&2
  echo "quickstart.sh: error: the build failed" >&2
  exit 1
fi
"$program" "$@"
