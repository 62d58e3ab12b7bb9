#!/usr/bin/env bash
# mail.sh IN OUT [nibu-translate flags]: a mail of plain text. Its header stays, its body is wrapped again.
# shellcheck disable=SC1091,SC2154 # common.sh sets in, out, recipes, nibu, tmp
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

header="$tmp/out" decode=(cat) encode=(cat) carriage_return=
awk 'NR == 1 && !/^(From |[^ \t:]+:)/ { exit } { print } /^\r?$/ { exit }' "$in" >"$header"
if grep -Eiq '^Content-Type: *(multipart|text/html)' "$header"; then fail "$in has parts that are no plain text"; fi
if grep -iq '^Content-Transfer-Encoding: *base64' "$header"; then
  decode=(base64 -di) encode=(base64)
elif grep -iq '^Content-Transfer-Encoding: *quoted-printable' "$header"; then
  perl -MMIME::QuotedPrint -e 1 2>/dev/null || fail "there is no MIME::QuotedPrint; apt-get install perl"
  # shellcheck disable=SC2016
  decode=(perl -MMIME::QuotedPrint -pe '$_ = decode_qp($_)') encode=(perl -MMIME::QuotedPrint -pe '$_ = encode_qp($_)')
fi
! grep -q $'\r$' "$header" || carriage_return=$'\r'
tail -c "+$(($(wc -c <"$header") + 1))" "$in" | "${decode[@]}" >"$tmp/body"
utf8 "$tmp/body"
"$nibu" --text=paragraphs --wrap=72 "$@" <"$tmp/body" | "${encode[@]}" | sed "s/\$/$carriage_return/" >>"$tmp/out"
cp "$tmp/out" "$out"
