#!/usr/bin/env bash
# document.sh IN OUT [nibu-translate flags]: Markdown (.md), Word (.docx) and what else pandoc reads and writes.
# shellcheck disable=SC1091,SC2016,SC2154 # common.sh sets in, out, recipes, nibu, tmp
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need pandoc pandoc

usage() { echo "$name: error: $1" >&2; exit 2; }
ending() { local file=${1##*/} last=''; [[ $file != *.* ]] || last=${file##*.}; echo "${last,,}"; }
is_markdown() { case $1 in md | markdown | mdown | mdwn | mkd | mkdn | mdx | rmd | qmd) ;; *) return 1 ;; esac; }
read_ending=$(ending "$in") write_ending=$(ending "$out")
# pandoc would take unknown endings for Markdown and HTML. An empty document shows what it knows, and has to make PDF.
if ! is_markdown "$read_ending"; then
  : >"$tmp/probe.$read_ending"
  reason=$(pandoc "$tmp/probe.$read_ending" --to=native 2>&1 | grep -oE 'Could not deduce.*|Unknown input.*') || :
  [ -z "$reason" ] || usage "cannot read $in: pandoc says: $reason; save it as .md, .docx, .odt or .html"
fi
if ! is_markdown "$write_ending"; then
  probe=(--fail-if-warnings --metadata=title=x --output="$tmp/probe.$write_ending")
  reason=$(pandoc "${probe[@]}" </dev/null 2>&1) || {
    reason=${reason#\[WARNING\] }
    usage "cannot write $out: pandoc says: ${reason%%$'\n'*}; end its name with .md, .docx, .odt or .html"
  }
fi

translate() {  # from "$tmp/source" to "$tmp/target", line by line
  "$nibu" --markup=html "$@" <"$tmp/source" >"$tmp/target"
  [ "$(wc -l <"$tmp/source")" = "$(wc -l <"$tmp/target")" ] ||
    fail "$nibu did not write one line for each; leave out flags that ask for more than a translation"
}

if is_markdown "$read_ending" && is_markdown "$write_ending"; then  # in place: what is no text stays byte for byte
  utf8 "$in"
  filter() {
    env SOURCE="$in" "$@" pandoc --lua-filter="$recipes/markdown.lua" --to=plain --output=/dev/null </dev/null || exit 1
  }
  filter TEXTS="$tmp/source"
  translate "$@"
  filter TRANSLATIONS="$tmp/target" RESULT="$tmp/result"
  cat "$tmp/result" >"$out"
  exit
fi

from=() to=() read=$in
case $read_ending in
  docx | odt | html | htm) from=(--from="${read_ending/%htm/html}+empty_paragraphs") ;;
  *) ! is_markdown "$read_ending" || {
    utf8 "$in"
    from=(--from=gfm+footnotes-emoji+fenced_divs+attributes)
    # pandoc takes fences with a title (::: tip My title, :::tip[My title]), or right behind a text, for text.
    mark='( *)(:::+) *([A-Za-z][A-Za-z-]*)' title='(\[(.*)\]| +([^{ ].*))'
    sed -E '/^ *(```|~~~)/,/^ *(```|~~~)/!s/^'"$mark$title"'$/\n\1\2 \3\n\n\1**\5\6**\n/' "$in" >"$tmp/${in##*/}"
    read=$tmp/${in##*/}
    # Elsewhere dollars would be escaped.
    ! grep -qE '\$\$|\$[^ $]([^$]*[^ $])?\$([^0-9]|$)' "$in" || from[0]+=+tex_math_dollars
  } ;;
esac
case $write_ending in
  docx | odt | html | htm) to=(--to="${write_ending/%htm/html}+empty_paragraphs") ;;
  *) ! is_markdown "$write_ending" || to=(--to=gfm+footnotes-emoji --wrap=none --extract-media="${out%.*}.media") ;;
esac
[ "$read_ending:$write_ending" != docx:docx ] || { from[0]+=+styles to+=(--reference-doc="$in"); }
# Both runs write the same format, for which pandoc may change the document before the filter sees it.
filter() {
  env "$@" pandoc "${from[@]}" "$read" --lua-filter="$recipes/document.lua" "${to[@]}" --standalone \
    --output="$tmp/result.$write_ending"
}
filter TEXTS="$tmp/source" 2>"$tmp/errors" || fail "cannot convert $in: pandoc says: $(tail -n 1 "$tmp/errors")"
translate "$@"
filter TRANSLATIONS="$tmp/target" || exit 1
cat "$tmp/result.$write_ending" >"$out"
