#!/usr/bin/env bash
# subtitles.sh IN OUT [nibu-translate flags]: SubRip (srt) and WebVTT (vtt). Only the text of cues changes.
# shellcheck disable=SC1091,SC2154 # common.sh sets in, out, recipes, nibu, tmp
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
utf8 "$in"
restore=(cat)
if [ "$(wc -l <"$in")" = 0 ] && grep -q $'\r' "$in"; then  # lines that end in CR alone
  tr '\r' '\n' <"$in" >"$tmp/in"
  in="$tmp/in" restore=(tr '\n' '\r')
fi

# A cue's lines are translated together; each speaker's (lines that begin with a dash) on their own.
export LC_ALL=C
awk -v texts="$tmp/source" -f "$recipes/cues.awk" "$in" >/dev/null
"$nibu" --markup=html --protect_pattern='<[0-9][0-9:.]*>|\{\\[^}]*\}' "$@" <"$tmp/source" >"$tmp/target"
awk -v translations="$tmp/target" -f "$recipes/cues.awk" "$in" | "${restore[@]}" >"$tmp/out"
cp "$tmp/out" "$out"
