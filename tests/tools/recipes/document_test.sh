#!/usr/bin/env bash
# document_test.sh NIBU_TRANSLATE CAPTIONS_MODEL: tools/recipes/document.sh keeps what is no text; 77 (skipped) without
# pandoc. tests/testdata/recipes/markdown has the sources NAME.md or NAME.mdx, and in NAME.texts what of them is text.
# shellcheck disable=SC2015,SC2016
set -euo pipefail
export LC_ALL=C.UTF-8
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
data="$root/tests/testdata/recipes" recipe="$root/tools/recipes/document.sh"
command -v pandoc >/dev/null || {
  echo "skipped: recipe document: there is no pandoc (apt-get install pandoc)"
  exit 77
}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
translator() { printf '#!/bin/sh\n%s\n' "$2" >"$tmp/$1" && chmod +x "$tmp/$1"; }  # NAME COMMAND
translator program "exec '$1' --model='$2' \"\$@\""
translator echo "exec tee '$tmp/texts'"  # what is translated is seen in $tmp/texts
translator upper 'exec sed -E "s/(<[^>]*>|&[^;]*;)|([a-z]+)/\1\U\2/g"'
translator twice 'exec sed -E "s/[A-Za-z]+ ([a-z]+)/& \1/g"'

fail() { echo "document_test.sh: $1" >&2; exit 1; }
run() { NIBU_TRANSLATE="$tmp/$1" "$recipe" "${@:2}" 2>"$tmp/err" || { cat "$tmp/err"; fail "$* ended with $?"; }; }
has() { grep -qF -e "$2" "$1" || { cat "$1"; fail "there is no '$2'"; }; }
same() { diff "$1" "$2" || fail "$3"; }
refused() {  # STATUS MESSAGE ARGUMENTS: one line on standard error, nothing is translated, no file
  local status=0
  rm -f "$tmp/texts"
  env PATH="${path:-$PATH}" NIBU_TRANSLATE="$tmp/echo" "$recipe" "${@:3}" >"$tmp/said" 2>"$tmp/err" || status=$?
  has "$tmp/err" "$2"
  [ "$status" = "$1" ] && [ "$(wc -l <"$tmp/err")" = 1 ] && [ ! -s "$tmp/said" ] && [ ! -e "$tmp/texts" ] &&
    [ ! -e "${4:-}" ] || { cat "$tmp/err"; fail "${*:3} ended with $status"; }
}
becomes() {  # TRANSLATOR SOURCE EXPECTED
  printf '%s\n' "$2" >"$tmp/in.md"
  run "$1" "$tmp/in.md" "$tmp/out.md"
  same <(printf '%s\n' "$3") "$tmp/out.md" "other Markdown was written"
}

# Wrong usage, wrong files.
refused 2 Usage one
refused 1 "cannot read $tmp/none.md" "$tmp/none.md" "$tmp/out.md"
echo 'A dog runs.' >"$tmp/in.md"
for name in out.xyz out out. out.doc dir.md/out; do
  mkdir -p "$tmp/dir.md"
  refused 2 "cannot write $tmp/$name" "$tmp/in.md" "$tmp/$name"
  has "$tmp/err" "end its name with .md, .docx, .odt or .html"
done
command -v pdflatex >/dev/null || refused 2 "pdflatex not found" "$tmp/in.md" "$tmp/out.pdf"
for name in in.xyz in in.pdf in.doc; do
  cp "$tmp/in.md" "$tmp/$name"
  refused 2 "cannot read $tmp/$name" "$tmp/$name" "$tmp/out.md"
done
for name in in.docx in.odt; do
  cp "$tmp/in.md" "$tmp/$name"
  refused 1 "cannot convert $tmp/$name" "$tmp/$name" "$tmp/out.md"
done
printf 'A d\xf6g runs.\n' >"$tmp/latin.md"
refused 1 "not UTF-8" "$tmp/latin.md" "$tmp/out.md"
translator lines 'exec sed p'
NIBU_TRANSLATE="$tmp/lines" "$recipe" "$tmp/in.md" "$tmp/out.md" 2>"$tmp/err" && fail "two lines for one were taken"
has "$tmp/err" "did not write one line for each"
mkdir "$tmp/bin"
for tool in bash cat dirname iconv mktemp rm; do ln -s "$(command -v $tool)" "$tmp/bin"; done
path="$tmp/bin" refused 1 "apt-get install pandoc" "$tmp/in.md" "$tmp/out.md"

# Markdown: what is translated, and that all else stays byte for byte.
for in in "$data"/sample.md "$data"/markdown/*.md*; do
  expected="$data/markdown/$(basename "${in%.*}").texts" out="$tmp/out.${in##*.}"
  run echo "$in" "$out"
  cmp "$in" "$out" || fail "$in changed"
  [ ! -s "$tmp/err" ] || { cat "$tmp/err"; fail "$in: there are warnings"; }
  [ ! -e "$expected" ] && expected=/dev/null
  same "$expected" "$tmp/texts" "$in: other texts were translated"
  # With a mark of byte order, CR LF and no last line end.
  { printf '\xef\xbb\xbf'; sed 's/$/\r/' "$in" | sed -z 's,\r\n*$,,'; } >"$tmp/crlf.${in##*.}"
  run echo "$tmp/crlf.${in##*.}" "$out"
  cmp "$tmp/crlf.${in##*.}" "$out" || fail "$in with CR LF changed"
  same "$expected" "$tmp/texts" "$in with CR LF: other texts were translated"
  # Where each letter of the texts is another one, a link that is named by its text gets its name.
  run upper "$in" "$out"
  same <(tr '[:upper:]' '[:lower:]' <"$in") <(tr '[:upper:]' '[:lower:]' <"$out" |
    sed -E 's/(guide\])\[the guide\]/\1/g; s/\[collapsed\]\[collapsed\]/[collapsed][]/') "$in: marks changed"
done
printf 'A dog.\rIt\r\rruns\r' >"$tmp/cr.md"
run echo "$tmp/cr.md" "$tmp/out.md"
cmp "$tmp/cr.md" "$tmp/out.md" || fail "CR changed"
same <(printf 'A dog. It\nruns\n') "$tmp/texts" "CR is no line end"

# Other words, other signs, other lengths.
becomes upper 'A [dog], [cat][] and [`code`].

[dog]: d
[cat]: c
[`code`]: e' 'A [DOG][dog], [CAT][cat] AND [`code`].

[dog]: d
[cat]: c
[`code`]: e'
becomes twice '> - A man sings and
>   a woman runs. He
>   is *here today*.' '> - A man man sings and and
>   a woman woman runs. He
>   is is *here today today*.'
translator signs 'exec sed "s/^A dog/1. dog/; s/star/*/; s/under/_x_/; s/pipe/|/"'
becomes signs 'A dog, a star, an under \*x\* and 1 * 2.

| pipe |
|------|' '1\. dog, a \*, an \_x\_ \*x\* and 1 \* 2.

| \| |
|------|'
translator dash 'exec sed "s/One two three/Eins zwei - drei/"'
becomes dash $'One two\nthree four.' $'Eins zwei -\ndrei four.'
translator blank 'exec sed "s/bold/ bold /"'
becomes blank 'A **bold** dog and [ a link ](x).' 'A  **bold**  dog and [ a link ](x).'
translator empty 'exec sed "s/bold//g"'
becomes empty 'A **bold** dog and [bold](x).' 'A  dog and [](x).'
translator lossy 'exec sed "s/<code[^>]*>0<.code>//"'
becomes lossy 'A `code` here.

A dog.' 'A `code` here.

A dog.'
has "$tmp/err" "line 1 of the source stays as it is"
[ "$(wc -l <"$tmp/err")" = 1 ] || fail "not one warning"

# The program itself.
in="$data/sample.md" out="$tmp/out.md"
run program "$in" "$out" --threads=1
for part in 'title: A dog runs.  # a comment' '](https://example.org/a?b=c&d "A title")' '`dog.run(1 < 2)`' '[^1]' \
  '<kbd>' '</kbd>' '<!-- A dog runs. -->' '```bash' 'echo "A dog runs."   # A dog runs.' '    A dog runs.  (indented code)' \
  '- [x] Ein Hund rennt.' '# Ein Hund rennt.' '> Ein Mann singt.' '| `a_b` \| `b \| c` |' \
  '<https://example.org/x_y>' '](dog.png "Dog")' '[^1]: Eine Katze schläft.' '- Ein Mann singt.' \
  '  1. **Ein Hund** rennt.'; do
  has "$out" "$part"
done
marks() { tr -cd '|#<>`[]*\n' <"$1" | tr -s '\n' | sort; }
same <(marks "$in") <(marks "$out") "marks changed"
cp "$in" "$tmp/same.md"
run program "$tmp/same.md" "$tmp/same.md" --threads=1
same "$out" "$tmp/same.md" "OUT may not be IN"

# From Markdown to Word and back.
printf '\n> [!NOTE]\n> A dog runs.\n\n::: note\nA man sings.\n:::\n\nIt costs $5, and a dog $10.\n' |
  cat "$in" - >"$tmp/more.md"
(cd "$data" && run program "$tmp/more.md" "$tmp/from_md.docx" --threads=1)
run echo "$tmp/from_md.docx" "$tmp/from_docx.md"
for part in 'title: Ein Hund rennt.' '# Ein Hund rennt.' '\[!NOTE\] Ein Hund rennt.' '$5'; do
  has "$tmp/from_docx.md" "$part"
done
printf '\nA cat\n:::tip The cat\nA cat sleeps.\n:::\n\n```\n::: tip x\n```\n' >>"$tmp/more.md"
run echo "$tmp/more.md" "$tmp/from_md.html"
(! grep -F -e ':::' -e 'NOTE' "$tmp/texts") || fail "marks were translated"
for part in '<div class="tip">' '<strong>The cat</strong>' '<p>A cat sleeps.</p>' '<code>::: tip x</code>'; do
  has "$tmp/from_md.html" "$part"
done
printf 'A dog runs.\n\n$$\nE = m c^2\n$$\n\nThe man who has $x_1^2$ sings.\n' >"$tmp/math.md"
run echo "$tmp/math.md" "$tmp/math.docx"
(! grep -e 'm c' "$tmp/texts") || fail "formulas were translated"

# Word: a style of one's own, too. Empty paragraphs of Word, OpenDocument and HTML.
(cat "$in" && printf '\n::: {custom-style="Fancy"}\nA dog runs.\n:::\n') |
  (cd "$data" && pandoc --from=gfm+footnotes+fenced_divs -o "$tmp/in.docx" 2>/dev/null)
run program "$tmp/in.docx" "$tmp/out.docx" --threads=1
pandoc "$tmp/out.docx" -t gfm --wrap=none -o "$tmp/docx.md"
pandoc --from=docx+styles "$tmp/out.docx" --to=native | tr -s ' \n' ' ' >"$tmp/native"
has "$tmp/native" '( "custom-style" , "Fancy" ) ] ) [ Para [ Str "Ein" , Space , Str "Hund" , Space , Str "rennt." ] ]'
for part in '](https://example.org/a?b=c&d)' '`dog.run(1 < 2)`' '[^1]' '# Ein Hund rennt.' '> Ein Mann singt.' \
  '    echo "A dog runs."   # A dog runs.'; do
  has "$tmp/docx.md" "$part"
done
for type in docx odt html; do
  echo '[Para [Str "One"], Para [], Para [], Para [Str "Two"], Para []]' |
    pandoc --from=native --to="$type+empty_paragraphs" --output="$tmp/empty.$type"
  run upper "$tmp/empty.$type" "$tmp/empty.out.$type"
  pandoc --from="$type+empty_paragraphs" "$tmp/empty.out.$type" --to=native | tr -s ' \n' ' ' >"$tmp/native"
  has "$tmp/native" 'Para [ Str "ONE" ] , Para [] , Para [] , Para [ Str "TWO" ] , Para []'
done
# A heading's own name, to which links lead.
printf '# A dog {#dog}\n\nSee [a dog](#dog).\n' >"$tmp/names.md"
run upper "$tmp/names.md" "$tmp/names.html"
has "$tmp/names.html" '<h1 id="dog">A DOG</h1>'
echo "document: passed"
