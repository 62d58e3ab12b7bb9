#!/usr/bin/env bash
# tools/test.sh [PRESET [CTEST FLAGS]]: installs what is missing, builds everything, runs every test (or those
# that ctest's flags choose), and says which tests were skipped and what they lacked. PRESET is release (the
# default), debug, asan, tsan or fuzz.
set -euo pipefail

preset=${1:-release}
shift || true
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
"$root/tools/setup.sh" test
cd "$root"
cmake --preset "$preset" -DNIBU_TESTS=ON -DNIBU_WERROR="${NIBU_WERROR:-OFF}" >/dev/null
cmake --build "build/$preset"
status=0
ctest --preset "$preset" -j "$(nproc)" --no-tests=error "$@" || status=$?
tools/dev/skipped.sh "build/$preset"
exit "$status"
