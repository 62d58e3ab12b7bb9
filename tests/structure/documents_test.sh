#!/usr/bin/env bash
# documents_test.sh PREFIX LIBRARY: each relative link of a document that is installed below PREFIX leads to a file that
# is installed, and to a heading that it has; the man pages of the interfaces have what is public, as LIBRARY exports it.
set -euo pipefail
prefix=$1 library=$2
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

pages="$prefix/share/man/man3"
while IFS= read -r name; do
  grep -q "^.fB.*\<$name(" "$pages/nibu_c.3" || fail "the man page nibu_c lacks $name"
done < <(nm -D --defined-only "$library" | sed -n 's/@.*//; s/.* \(nibu_[a-z_]*\)$/\1/p')
for words in '^.fBclass Translator.fR$' '^.fBabsl::StatusOr<Ticket> Submit(' '^.fBstruct Hypothesis.fR$' '^Loads a model'; do
  grep -q "$words" "$pages/nibu_cpp.3" || fail "the man page nibu_cpp lacks $words"
done
! grep -E '^.fB.*(internal|private|plan_;)' "$pages/nibu_cpp.3" || fail "the man page nibu_cpp has what is internal"
if command -v groff >/dev/null; then
  said=$(groff -man -ww -z -Tascii "$pages"/nibu_c*.3 2>&1)
  [ -z "$said" ] || fail "the man pages of the interfaces: $said"
fi
