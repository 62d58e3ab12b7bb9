#!/usr/bin/env bash
# tools/test.sh [PRESET]: installs what is missing, builds everything and runs every test. PRESET is
# release (default), debug, asan or tsan.
set -euo pipefail

preset=${1:-release}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
"$root/tools/setup.sh" test
cd "$root"
cmake --preset "$preset" -DNIBU_TESTS=ON -DNIBU_WERROR="${NIBU_WERROR:-OFF}" >/dev/null
cmake --build "build/$preset"
ctest --preset "$preset"
