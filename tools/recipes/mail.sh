#!/usr/bin/env bash
# mail.sh IN OUT [nibu-translate flags]: a mail of plain text. Its body is wrapped again, in UTF-8; its header stays but
# for what says so.
# shellcheck disable=SC1091,SC2154 # common.sh sets in, out, recipes, nibu, tmp
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

export LC_ALL=C
header="$tmp/header" decode=(cat) encode=(cat) carriage_return=
awk 'NR == 1 && !/^(From |[^ \t:]+:)/ { exit } { print } /^\r?$/ { exit }' "$in" >"$header"
! grep -q $'\r$' "$header" || carriage_return=$'\r'

# What a field of the header says: unfolded, without comments, in small letters.
field() {
  tr -d '\r' <"$header" | awk -v name="^$1[ \t]*:" '
    /^[^ \t]/ { is_it = tolower($0) ~ name; if (is_it) sub(/^[^:]*:/, "") }
    is_it { text = text " " $0 }
    END {
      gsub(/\([^()]*\)/, " ", text)
      gsub(/[ \t]+/, " ", text)
      gsub(/^ | $/, "", text)
      print tolower(text)
    }'
}
type=$(field content-type) encoding=$(field content-transfer-encoding) charset=us-ascii
case ${type%%[; ]*} in '' | text/plain) ;; *) fail "$in has parts that are no plain text" ;; esac
case ${encoding%%[; ]*} in
  '' | 7bit | 8bit | binary) ;;
  base64) decode=(base64 -di) encode=(base64) ;;
  quoted-printable)
    perl -MMIME::QuotedPrint -e 1 2>/dev/null || fail "there is no MIME::QuotedPrint; apt-get install perl"
    # shellcheck disable=SC2016
    decode=(perl -MMIME::QuotedPrint -pe '$_ = decode_qp($_)') encode=(perl -MMIME::QuotedPrint -pe '$_ = encode_qp($_)') ;;
  *) fail "$in is encoded by $encoding, which is not known here; decode it first" ;;
esac
[[ ! $type =~ [\;\ ]charset\ ?=\ ?\"?([^\"\;\ ]+) ]] || charset=${BASH_REMATCH[1]}

tail -c "+$(($(wc -c <"$header") + 1))" "$in" | "${decode[@]}" >"$tmp/encoded"
rewrite=
case $charset in
  utf-8 | utf8 | us-ascii | ascii)  # many say us-ascii and write UTF-8
    utf8 "$tmp/encoded"
    cp "$tmp/encoded" "$tmp/body" ;;
  *)
    iconv -f "$charset" -t UTF-8 </dev/null >/dev/null 2>&1 || fail "$in is in $charset, which iconv does not know"
    iconv -f "$charset" -t UTF-8 "$tmp/encoded" >"$tmp/body" 2>/dev/null || fail "$in is not in $charset, as it says"
    rewrite=1 ;;
esac
"$nibu" --text=paragraphs --wrap=72 "$@" <"$tmp/body" >"$tmp/text"

# The header says what the body is, if that has changed.
if [ "$(tr -d '\0-\177' <"$tmp/text" | wc -c)" != 0 ]; then rewrite=1; fi
awk -v rewrite="$rewrite" -v cr="$carriage_return" '
  function put(  name) {
    name = tolower(field)
    sub(/[ \t]*:.*/, "", name)
    seen[name] = 1
    if (name == "content-transfer-encoding") sub(/7[Bb][Ii][Tt]/, "8bit", field)
    if (name == "content-type" && tolower(field) !~ /charset[ \t\r\n]*=[ \t\r\n]*"?utf-?8/) {
      if (match(tolower(field), /[; \t\r\n]charset[ \t\r\n]*=[ \t\r\n]*("[^"]*"|[^; \t\r\n]*)/)) {
        field = substr(field, 1, RSTART) "charset=utf-8" substr(field, RSTART + RLENGTH)
      } else {
        sub(/[Tt][Ee][Xx][Tt]\/[Pp][Ll][Aa][Ii][Nn]/, "&; charset=utf-8", field)
      }
    }
    printf "%s", field
    field = ""
  }
  !rewrite { print; next }
  /^[^ \t]/ || /^$/ { put() }
  /^\r?$/ {
    if (!seen["mime-version"]) print "MIME-Version: 1.0" cr
    if (!seen["content-type"]) print "Content-Type: text/plain; charset=utf-8" cr
    if (!seen["content-transfer-encoding"]) print "Content-Transfer-Encoding: 8bit" cr
  }
  { field = field $0 "\n" }
  END { put() }' "$header" >"$tmp/out"
"${encode[@]}" <"$tmp/text" | sed "s/\$/$carriage_return/" >>"$tmp/out"
cp "$tmp/out" "$out"
