#!/usr/bin/env bash
# document.sh IN OUT [nibu-translate flags]: Markdown (.md), Word (.docx) and what else pandoc reads and writes.
# shellcheck disable=SC1091,SC2016,SC2154 # common.sh sets in, out, recipes, nibu, tmp
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need pandoc pandoc

from=() to=() body=$in front=/dev/null markdown=gfm+footnotes-emoji
# Elsewhere dollars would be escaped.
! grep -qE '\$\$|\$[^ $]([^$]*[^ $])?\$([^0-9]|$)' "$in" || markdown+=+tex_math_dollars
case ${in##*.}:${out##*.} in
  md:md) # what stands between --- and --- in front is no text
    body="$tmp/in.md" front="$tmp/front" from=(--from="$markdown") to=(--to="$markdown" --wrap=none)
    awk 'NR == 1 && !/^---\r?$/ { exit } { print } NR > 1 && /^(---|\.\.\.)\r?$/ { whole = 1; exit }
      END { exit !whole }' "$in" >"$front" || : >"$front"
    ! grep -q $'\r$' "$in" || to+=(--eol=crlf)
    tail -c "+$(($(wc -c <"$front") + 1))" "$in" >"$body" ;;
  md:*) from=(--from="$markdown") ;;
  *:md) to=(--to="$markdown" --wrap=none --extract-media="${out%.md}.media") ;;
  docx:docx) from=(--from=docx+styles) to=(--reference-doc="$in") ;;
esac
[ "${in##*.}" != md ] || utf8 "$in"
# Both runs write the same format, for which pandoc may change the document before the filter sees it.
filter() {
  env "$@" pandoc "${from[@]}" "$body" --lua-filter="$recipes/document.lua" "${to[@]}" --standalone \
    --output="$tmp/out.${out##*.}"
}
filter TEXTS="$tmp/source" 2>"$tmp/errors" || fail "cannot convert $in: pandoc says: $(tail -n 1 "$tmp/errors")"
"$nibu" --markup=html "$@" <"$tmp/source" >"$tmp/target"
filter TRANSLATIONS="$tmp/target" || exit 1
cat "$front" "$tmp/out.${out##*.}" >"$out"
