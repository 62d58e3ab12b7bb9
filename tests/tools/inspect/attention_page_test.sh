#!/usr/bin/env bash
# attention_page_test.sh NIBU_INSPECT CAPTIONS_MODEL: the pages of nibu-inspect as Chromium draws them; 77
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
  sed 's/,"read".*//; s/.*"cross"://' "$tmp/json" | awk -F']]],\\[\\[\\[' '{ sub(/]],.*/, "", $3); gsub(/[^0-9.e+-]+/, "\n", $3); print $3 }' |
    awk -v least="$1" 'NF && $1 > 0 && $1 >= least' | wc -l
}

# A token that would end the script, and be a tag, if it were not text.
"$program" attention --model="$captions_model" --tokenized '▁A </script><b> ▁犬 ▁كلب ▁runs .' \
  --target '▁Ein ▁Hund .' --json --html="$tmp/page.html" >"$tmp/json"
[ "$(grep -oE '(https?:)?//[a-z]' "$tmp/page.html" | sort -u)" = 'http://w' ] ||  # the name of SVG
  fail "the page asks for something"

draw 'kind=cross&layer=2&heads=0&threshold=0.1&q=0&k=1'
has '<title>Attention: ▁A &lt;/script&gt;&lt;b&gt; ▁犬'
has '<h2 id="title">Cross-attention, layer 2, head 0</h2>'
has 'Mechanism full. '
count 0 '<b>'
count 12 'class="head"'
count 1 'aria-pressed="true"'
count 108 '<td>'  # 4 columns of the 12 heads, 8 of the 7 keys, the 4 numbers of the first layer's heads
count 11 'dir="auto" title='  # 7 of the source, 4 of the target
count 4 'data-node="0 '
count 7 'data-node="1 '
count 1 'data-node="1 1">&lt;/script&gt;&lt;b&gt;</text>'
edges=$(weights 0.1)
[ "$edges" -ge 4 ] || fail "only $edges edges"
count "$edges" 'data-ends="'
has ": $edges of 28 edges, 4 queries, 7 keys</output>"
if command -v python3 >/dev/null; then
  # The pair's numbers are those of its query and key, which mechanisms_test.sh compares with NumPy.
  python3 - "$tmp/json" "$tmp/dom" <<'PYTHON' || fail "the numbers of a pair are others"
import json, math, re, sys
maps = json.load(open(sys.argv[1]))
own = maps["details"]["cross"][2]
q, k, v = own["q"][0][0], own["k"][0][1], own["v_norm"][0][1]
dot = sum(a * b for a, b in zip(q, k))
norm = lambda x: math.sqrt(sum(a * a for a in x))
weight = maps["cross"][2][0][0][1]
expected = [norm(q), norm(k), math.degrees(math.acos(dot / norm(q) / norm(k))), dot, own["score"][0][0][1], weight, v, weight * v]
text = re.search('<p id="pair-sum">([^<]*)', open(sys.argv[2]).read()).group(1)
shown = [float(number) for number in re.findall(r"-?[0-9]+[.][0-9]+", text)]
sys.exit(len(shown) != 8 or any(abs(a - b) > 0.06 for a, b in zip(shown, expected)))
PYTHON
fi

draw 'kind=cross&layer=2&heads=0&threshold=0'
count 28 'data-ends="'
draw 'kind=cross&layer=2&heads=0.3&threshold=0'
has '<h2 id="title">Cross-attention, layer 2, mean of heads 0, 3</h2>'
count 56 'data-ends="'
count 2 'aria-pressed="true"'

draw 'kind=encoder&layer=9&heads=9'  # the last layer, and none of its heads
has '<h2 id="title">Self-attention (encoder), layer 5, mean of its heads</h2>'
count 24 'class="head"'
count 14 'dir="auto" title='
count 14 'data-node="'

draw 'kind=nothing&layer=x'
has '<h2 id="title">Cross-attention, layer 2, head 0</h2>'

# Mechanisms beside each other.
"$program" attention --model="$captions_model" --tokenized '▁A ▁dog ▁runs .' --target '▁Ein ▁Hund .' \
  --compare=full --compare=window:1 --compare=pool --html="$tmp/page.html"
draw 'kind=encoder&layer=1'
has '<span id="compare-layer">1</span>'
count 1 '■ full</td>'
count 1 '■ window:1</td>'
has 'window:1 computes the fewest pairs, 52 % of the most.'
has 'PX: positions look for words.'

# Reduced keys are nodes of their own, and the parts of a layer are named.
"$program" attention --model="$captions_model" --tokenized '▁A ▁dog ▁runs .' --target '▁Ein ▁Hund .' \
  --encoder_attention='mean:3;full;full;full;full;window:1' --html="$tmp/page.html"
draw 'kind=encoder&layer=0&heads=0&threshold=0'
has 'Mechanism mean:reduction=3. '
has '0.00: 10 of 10 edges, 5 queries, 2 keys</output>'
has '>▁A ▁dog ▁runs</span>'
draw 'kind=encoder&layer=5&heads=0&threshold=0&q=0&k=4'
has '0.00: 13 of 13 edges, 5 queries, 5 keys</output>'
has 'hidden from this query.'

# Predicted windows and sampled places are drawn.
tiny=$(dirname "$captions_model")
"$program" attention --model="$tiny/cross" 'a cat' --html="$tmp/page.html"
draw 'kind=cross&layer=4&heads=0'
has 'The upright mark of a row is the place p'
has '<title>p = '
"$program" attention --model="$tiny/mixers" 'the cat sat' --html="$tmp/page.html"
draw 'kind=encoder&layer=5&heads=0'
has 'Keys are sampled between tokens, at the positions '
draw 'kind=encoder&layer=10&heads=2'
has ', layer 10, head grid 0</h2>'
draw 'kind=encoder&layer=7'
has 'Mechanism pool. It weighs no keys, so it has no matrices.'

# A long text, whose terms have more scores than a call in JavaScript may have arguments.
"$program" attention --model="$captions_model" --tokenized "$(printf '▁dog %.0s' {1..190})" --target '▁Ein ▁Hund .' \
  --html="$tmp/page.html"
draw 'kind=cross&layer=0&heads=0'
has '<h2 id="title">Cross-attention, layer 0, head 0</h2>'
has '4 queries, 191 keys</output>'

"$program" convolution --kernel=-1,0,1 --alpha=1,16 --html="$tmp/page.html"
draw ''
count 6 'class="head"'
has 'with enough heads and this encoding of positions, self-attention is a convolution.'

# A head is clicked, then keys move.
"$program" attention --model="$captions_model" --tokenized '▁A ▁dog' --target '▁Ein ▁Hund .' --html="$tmp/page.html"
cat >>"$tmp/page.html" <<'SCRIPT'
<script>
document.querySelectorAll('.head')[5].click();
for (const key of ['ArrowUp', 'ArrowDown', 'ArrowRight', 'Enter']) $('board').dispatchEvent(new KeyboardEvent('keydown', {key}));
</script>
SCRIPT
draw 'kind=decoder&layer=0&heads=0'
has '<h2 id="title">Masked self-attention (decoder), layer 1, head 1</h2>'
count 12 'class="head"'
has '<div id="tip" role="status" style='
grep -qE '<bdi>▁Ein</bdi> → <bdi>▁Ein</bdi>: 0\.[0-9]{4}</div>' "$tmp/dom" || fail "the value of a cell is not shown"
echo "attention page: passed"
