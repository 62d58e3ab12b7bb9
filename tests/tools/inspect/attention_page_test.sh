#!/usr/bin/env bash
# attention_page_test.sh NIBU_INSPECT CAPTIONS_MODEL: the page of nibu-inspect attention as Chromium draws it; 77
# (skipped) without it.
set -euo pipefail
export LC_ALL=C.UTF-8
program=$1 captions_model=$2
for browser in chromium chromium-browser google-chrome none; do
  ! command -v "$browser" >/dev/null || break
done
[ "$browser" != none ] || { echo "skipped: attention page: there is no chromium (apt-get install chromium)"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

fail() { echo "attention_page_test.sh: $1" >&2; exit 1; }
# Draws the page at $tmp/page.html with $1 (kind=...&...) as its fragment, into $tmp/dom. Nothing may be logged.
draw() {
  timeout 120 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$tmp/profile" --enable-logging=stderr \
    --dump-dom "file://$tmp/page.html#$1" >"$tmp/dom" 2>"$tmp/log" || { cat "$tmp/log"; fail "$browser ended with $?"; }
  ! grep CONSOLE "$tmp/log" || fail "the page logs errors"
}
count() { [ "$(grep -oF -e "$2" "$tmp/dom" | wc -l)" = "$1" ] || fail "not $1 times: $2"; }
has() { grep -qF -e "$1" "$tmp/dom" || { cat "$tmp/dom"; fail "there is no $1"; }; }
# Prints how many weights of layer 2's head 0 are at least $1.
weights() {
  sed 's/.*"cross"://' "$tmp/json" | awk -F']]],\\[\\[\\[' '{ sub(/]],.*/, "", $3); gsub(/[^0-9.e+-]+/, "\n", $3); print $3 }' |
    awk -v least="$1" 'NF && $1 > 0 && $1 >= least' | wc -l
}

# A token that would end the script, and be a tag, if it were not text.
"$program" attention --model="$captions_model" --tokenized '▁A </script><b> ▁犬 ▁كلب ▁runs .' \
  --target '▁Ein ▁Hund .' --json --html="$tmp/page.html" >"$tmp/json"
[ "$(grep -oE '(https?:)?//[a-z]' "$tmp/page.html" | sort -u)" = 'http://w' ] ||  # the name of SVG
  fail "the page asks for something"

draw 'kind=cross&layer=2&head=0&threshold=0.1'
has '<title>Attention: ▁A &lt;/script&gt;&lt;b&gt; ▁犬'
has '<h2 id="title">Cross-attention, layer 2, head 0</h2>'
count 0 '<b>'
count 12 'class="head"'
count 1 'aria-pressed="true"'
count 48 '<td>'  # 4 columns of the summary
count 11 'dir="auto" title='  # 7 of the source, 4 of the target
count 7 'data-node="0 '
count 4 'data-node="1 '
count 1 'data-node="0 1">&lt;/script&gt;&lt;b&gt;</text>'
edges=$(weights 0.1)
[ "$edges" -ge 4 ] || fail "only $edges edges"
count "$edges" '<line '
has ": $edges of $(weights 0) edges</output>"

draw 'kind=cross&layer=2&head=0&threshold=0'
count "$(weights 0)" '<line '

draw 'kind=encoder&layer=9&head=-1'  # the last one
has '<h2 id="title">Encoder self-attention, layer 5, mean of its heads</h2>'
count 24 'class="head"'
count 14 'dir="auto" title='
has '<section id="edges" aria-labelledby="edges-title" hidden="">'

draw 'kind=nothing&layer=x'
has '<h2 id="title">Cross-attention, layer 2, head 0</h2>'

# A head is clicked, then keys move.
cat >>"$tmp/page.html" <<'SCRIPT'
<script>
document.querySelectorAll('.head')[5].click();
for (const key of ['ArrowUp', 'ArrowDown', 'ArrowRight']) $('board').dispatchEvent(new KeyboardEvent('keydown', {key}));
</script>
SCRIPT
draw 'kind=decoder&layer=0&head=0'
has '<h2 id="title">Decoder self-attention, layer 1, head 1</h2>'
count 12 'class="head"'
has '<div id="tip" role="status" style='
grep -qE '<bdi>▁Ein</bdi> → <bdi>▁Ein</bdi>: 0\.[0-9]{4}</div>' "$tmp/dom" || fail "the value of a cell is not shown"
echo "attention page: passed"
