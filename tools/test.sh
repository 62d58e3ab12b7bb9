#!/usr/bin/env bash
# tools/test.sh [PRESET [CTEST FLAGS]]: installs what is missing, builds everything, runs every test (or those
# that ctest's flags choose), and says how many tests were skipped and what they lacked. PRESET is release (the
# default), debug, asan, tsan or fuzz.
set -euo pipefail

preset=${1:-release}
shift || true
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
"$root/tools/setup.sh" test
cd "$root"
cmake --preset "$preset" -DNIBU_TESTS=ON -DNIBU_WERROR="${NIBU_WERROR:-OFF}" \
  -DNIBU_FUZZ_SEEDS="${NIBU_FUZZ_SEEDS:-OFF}" >/dev/null
cmake --build "build/$preset"
status=0
# ctest's list of the skipped tests is left out: skipped.sh counts them.
ctest --preset "$preset" -j "$(nproc)" --no-tests=error "$@" |
  grep --line-buffered -vE '^The following tests did not run:|^'$'\t'' *[0-9]+ - .* \(Skipped\)$' || status=$?
tools/dev/skipped.sh "build/$preset"
exit "$status"
