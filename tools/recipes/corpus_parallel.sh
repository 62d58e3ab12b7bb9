#!/usr/bin/env bash
# corpus_parallel.sh IN OUT [nibu-translate flags]: GNU parallel runs a process per core, each of which translates one of
# $SHARDS parts of IN (64) at a time. Run again, it translates what is missing. $PARALLEL: options of parallel.
# shellcheck disable=SC1091,SC2046,SC2154 # common.sh sets in, out, nibu
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need parallel parallel

shards=${SHARDS:-64} status=0
parts=$out.parts/$(printf '%s\0' "$shards" "$@" | cksum | cut -d ' ' -f 1)  # other flags have another folder
mkdir -p "$parts"
printf -v part '%q/{}' "$parts"
printf -v translate '%q ' "$nibu" --src="$in" --resume --threads=1 "$@"
printf -v source '%q' "$in"
seq "$shards" | PARALLEL_SHELL=$BASH parallel \
  "[ $part -nt $source ] || $translate --shard={}/$shards --out=$part" || status=$?
missing=$(seq "$shards" | while read -r k; do [ "$parts/$k" -nt "$in" ] || echo "$k"; done | xargs)
[ -z "$missing" ] || fail "parts $missing of $shards are not translated; run it again, and it goes on with them"
(cd "$parts" && cat $(seq "$shards")) >"$parts/joined"
mv "$parts/joined" "$out"
rm -r "$out.parts"
exit "$((status > 0))"
