#!/usr/bin/env bash
# documents_test.sh PREFIX: each relative link of a document that is installed below PREFIX leads to a file that
# is installed, and to a heading that it has.
set -euo pipefail
prefix=$1
fail() { echo "$*" >&2; exit 1; }

links=0
while IFS= read -r document; do
  while IFS= read -r link; do
    file="$(dirname "$document")/${link%%#*}"
    [ -n "${link%%#*}" ] || file=$document
    [ -e "$file" ] || fail "$document has a link to $link, which is not installed"
    [[ $link != *"#"* ]] || sed -n 's/^##* //p' "$file" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9_\n-' |
      grep -xF -- "${link#*#}" >/dev/null || fail "$document has a link to $link, which is no heading"
    links=$((links + 1))
  done < <(tr '\n' ' ' <"$document" | grep -oE '\]\([^() ]+\)' | sed 's/^](//; s/)$//' | grep -v ://)
done < <(find "$prefix" -name '*.md')
[ "$links" -gt 30 ] || fail "the installed documents have $links links"
