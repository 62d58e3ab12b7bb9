#!/usr/bin/env bash
# page_test.sh NIBU_SERVE CAPTIONS_MODEL: the server's pages in headless Chromium, and its form without JavaScript. 77
# (skipped) without Chromium or curl.
set -euo pipefail
program=$1 model=$2
chromium=$(command -v chromium || command -v chromium-browser || true)
[ -n "$chromium" ] || { echo "skipped: there is no chromium"; exit 77; }
command -v curl >/dev/null || { echo "skipped: there is no curl"; exit 77; }
tmp=$(mktemp -d)
"$program" --model="$model" --port=0 >"$tmp/address" 2>"$tmp/log" & server=$!
trap 'kill "$server" 2>/dev/null; wait "$server" 2>/dev/null || true; rm -rf "$tmp"' EXIT
fail() { echo "page_test.sh: $1" >&2; tail -n 30 "$tmp/log" >&2; exit 1; }
for ((i = 0; i < 1000; ++i)); do [ ! -s "$tmp/address" ] || break; sleep 0.05; done
url=$(sed 's/^nibu-serve: //' "$tmp/address")
for ((i = 0; i < 1000; ++i)); do curl -sf "$url/ready" >/dev/null && break; sleep 0.05; done
browse() {  # PATH: the page as it is when its programs have run
  "$chromium" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$tmp/profile" \
    --virtual-time-budget=30000 --dump-dom "$url$1" 2>>"$tmp/log"
}
has() { grep -qF -- "$2" <<<"$1" || fail "there is no '$2' in: $1"; }
lacks() { ! grep -qF -- "$2" <<<"$1" || fail "there is '$2' in: $1"; }

page=$(browse '/?q=A%20man%20is%20riding%20a%20bicycle.%0A%3Cb%3E&source=en&target=de')
has "$page" '>Fahrrad.</span>'
has "$page" '<p data-line="1"'
lacks "$page" '<b>'
has "$page" '<option value="de">German</option>'
page=$(browse '/?q=A%20dog%20runs.&source=en&target=de')
has "$page" '<ul id="alternatives"><li>'
# The reference has every path, and the errors that clients meet.
page=$(browse /docs)
for text in "POST /translate" "GET /languages" "POST /align" "curl " "<td>413</td>" "<td>415</td>" "<td>431</td>"; do
  has "$page" "$text"
done

# Without JavaScript, the server fills the page. What stands in a text never becomes a tag or a mark of the page.
form() { curl -s -X POST "$url/page" --data-urlencode "q=$1" -d source=en -d "target=$2"; }
page=$(form $'\nA man is riding a bicycle. </textarea><script>{{error}}' de)
has "$page" "Ein Mann fährt Fahrrad."
has "$page" "bicycle. &lt;/textarea&gt;&lt;script&gt;{{error}}"
lacks "$page" "<script>"
page=$(form "A dog." xx)
has "$page" 'xx is not supported</p>'
has "$page" "<!DOCTYPE html>"
# Nothing is loaded from elsewhere.
for path in / /docs /page_style.css /page_program.js /docs_program.js; do
  lacks "$(curl -s "$url$path" | sed 's,http://www.w3.org,,')" "://"
done
