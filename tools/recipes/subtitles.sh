#!/usr/bin/env bash
# subtitles.sh IN OUT [nibu-translate flags]: SubRip (srt), WebVTT (vtt) and ASS (ass, ssa). Only the text of cues
# changes.
# shellcheck disable=SC1091,SC2154 # common.sh sets in, out, recipes, nibu, tmp
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need python3 python3
utf8 "$in"
python3 "$recipes/subtitles.py" "$in" "$tmp/out" "$nibu" --markup=html --protect_pattern='>>+' "$@"
cp "$tmp/out" "$out"
