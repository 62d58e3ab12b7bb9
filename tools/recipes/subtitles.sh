#!/usr/bin/env bash
# subtitles.sh IN OUT [nibu-translate flags]: SubRip (srt) and WebVTT (vtt). Only the text of cues changes.
# shellcheck disable=SC1091,SC2154 # common.sh sets in, out, recipes, nibu, tmp
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
utf8 "$in"

# A cue's lines are translated together; each speaker's (lines that begin with a dash) on their own.
export LC_ALL=C
awk -v texts="$tmp/source" -f "$recipes/cues.awk" "$in" >/dev/null
"$nibu" --markup=html --protect_pattern='<[0-9][0-9:.]*>|\{\\[^}]*\}' "$@" <"$tmp/source" >"$tmp/target"
awk -v translations="$tmp/target" -f "$recipes/cues.awk" "$in" >"$tmp/out"
cp "$tmp/out" "$out"
