#!/usr/bin/env bash
# corpus_pipe.sh [nibu-translate flags] <IN >OUT: GNU parallel cuts standard input into blocks of lines ($BLOCK: 1M) for a
# process per core, and writes their translations in order. It translates a block again whose process was killed.
set -euo pipefail
command -v parallel >/dev/null || { echo "corpus_pipe.sh: error: there is no parallel; apt-get install parallel" >&2; exit 1; }
nibu=${NIBU_TRANSLATE:-$(dirname "${BASH_SOURCE[0]}")/../../build/release/bin/nibu-translate}
[ -n "${NIBU_TRANSLATE:-}" ] || [ -x "$nibu" ] || nibu="nibu-translate"
printf -v translate '%q ' "$nibu" --threads=1 "$@"
PARALLEL_SHELL=$BASH exec parallel --pipe --keep-order --retries 3 --block "${BLOCK:-1M}" "$translate"
