#!/usr/bin/env bash
# tools/bench/attention_quality.sh SRC TGT [MECHANISM ...]: what other attention costs a model: the
# perplexity of given translations, line by line, and with 25 lines joined to one (of about 400
# tokens, if they are captions). A mechanism is for the encoder; behind "cross=" it is for the
# cross-attention. MODEL in the environment: another model than the bundled.
set -euo pipefail

[ $# -ge 2 ] || { echo "usage: tools/bench/attention_quality.sh SRC TGT [MECHANISM ...]" >&2; exit 2; }
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
src=$1
tgt=$2
shift 2
[ $# -gt 0 ] || set -- full window:64 window:32 window:16 window:8 window:4 shifted:32 block_grid:32 \
  bigbird:window=16,global=4,random=1,block=16 lsh:bucket=16 lsh:bucket=8,rounds=2 mean:2 mean:4 \
  causal factorized pool:3 cross=local_m:8 cross=local_m:4 cross=local_m:2 cross=local_m:4,ratio=110 \
  cross=mean:2 cross=mean:4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for side in src tgt; do
  paste -sd "$(printf ' %.0s' {1..24})\n" <"${!side}" >"$work/$side"
done

perplexity() {
  local place=encoder mechanism=$1
  case $mechanism in cross=*) place=cross mechanism=${mechanism#cross=} ;; esac
  "$root/build/release/bin/nibu-score" --compute_type=float32 --stats --model="${MODEL:-}" \
    "--${place}_attention=$mechanism" --src="$2" --tgt="$3" 2>&1 >/dev/null |
    sed -n 's/.*"perplexity":\([0-9.e+]*\).*/\1/p'
}

printf '| mechanism | perplexity, single lines | 25 lines joined |\n|---|---|---|\n'
for mechanism in "$@"; do
  printf '| %s | %.2f | %.2f |\n' "$mechanism" "$(perplexity "$mechanism" "$src" "$tgt")" \
    "$(perplexity "$mechanism" "$work/src" "$work/tgt")"
done
