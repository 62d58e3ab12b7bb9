#!/usr/bin/env bash
# recipes_test.sh RECIPE NIBU_TRANSLATE CAPTIONS_MODEL: tools/recipes/RECIPE.sh keeps what is no text; 77 (skipped)
# without its filters.
# shellcheck disable=SC2015,SC2016
set -euo pipefail
export LC_ALL=C.UTF-8
recipe=$1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
data="$root/tests/testdata/recipes"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
program="$tmp/translate"
printf '#!/bin/sh\nexec "%s" --model="%s" "$@"\n' "$2" "$3" >"$program"
# Standard input comes out; what is translated is seen in $tmp/texts.
printf '#!/bin/sh\nexec tee "%s/texts"\n' "$tmp" >"$tmp/echo"
chmod +x "$program" "$tmp/echo"

fail() { echo "recipes_test.sh: $recipe: $1" >&2; exit 1; }
run() { NIBU_TRANSLATE=$program "$root/tools/recipes/$recipe.sh" "$@" || fail "$* ended with $?"; }
run_echo() { NIBU_TRANSLATE="$tmp/echo" "$root/tools/recipes/$recipe.sh" "$@" || fail "$* ended with $?"; }
has() { grep -qF -e "$2" "$1" || { cat "$1"; fail "there is no '$2'"; }; }
same() { diff "$1" "$2" || fail "$3"; }
texts() { same <(printf '%s\n' "$@") "$tmp/texts" "other texts were translated"; }
need() { command -v "$1" >/dev/null || { echo "skipped: recipe $recipe: there is no $1 (apt-get install $2)"; exit 77; }; }

fake() { printf '#!/bin/sh\n%s\n' "$1" >"$tmp/fake" && chmod +x "$tmp/fake"; }  # what $tmp/fake does

refused() {  # STATUS ARGUMENTS: one line on standard error, no file
  local status=0
  env PATH="${path:-$PATH}" NIBU_TRANSLATE="$program" "$root/tools/recipes/$recipe.sh" "${@:2}" 2>"$tmp/err" || status=$?
  [ "$status" = "$1" ] && [ "$(wc -l <"$tmp/err")" = 1 ] && [ ! -e "${3:-}" ] || { cat "$tmp/err"; fail "$* ended with $status"; }
}

refused 2 one
refused 1 "$tmp/no_input" "$tmp/no_output"
echo >"$tmp/in"
program="$tmp/no_program" refused 1 "$tmp/in" "$tmp/no_output"
refused 1 "$tmp/in" "$tmp/no_folder/no_output"
has "$tmp/err" "there is no folder $tmp/no_folder"
mkdir "$tmp/bin"
for tool in bash cat dirname iconv mktemp rm; do ln -s "$(command -v $tool)" "$tmp/bin"; done
case $recipe in mail | subtitles)
  path="$tmp/bin" refused 1 "$tmp/in" "$tmp/no_output"
  has "$tmp/err" "apt-get install" ;;
esac

case $recipe in
  subtitles)
    need python3 python3
    for name in sample.srt sample.vtt speakers.srt rolling.vtt sample.ass; do
      in="$data/$name" out="$tmp/out.$name"
      for ((i = 0; i <= $(wc -l <"$in"); i++)); do  # whole, and without any one line
        awk -v i="$i" 'NR != i' "$in" >"$tmp/damaged"
        run_echo "$tmp/damaged" "$tmp/echoed"
        words() { sed 's/\\N/\n/g' "$1" | tr -s ' \n' '\n'; }
        same <(words "$tmp/damaged") <(words "$tmp/echoed") "words changed"
        same <(grep -e '-->' "$tmp/damaged") <(grep -e '-->' "$tmp/echoed") "times changed"
      done
      run "$in" "$out"
      # As many lines; those that are no text of a cue are the same, and so are tags.
      same <(wc -l <"$in") <(wc -l <"$out") "the number of lines changed"
      fixed='-->|^\s*$|^[0-9]*$|^(WEBVTT|Kind|Language|NOTE|This is for|STYLE|::cue|intro)|&nbsp;|^(\[|Title|Script|Format|Style|Comment)|\\p1'
      same <(grep -nE -e "$fixed" "$in") <(grep -nE -e "$fixed" "$out") "lines changed"
      for tag in '</?[a-z][^>]*>' '\{[^}]*\}' '\\N' '^Dialogue:([^,]*,){9}'; do
        same <(grep -oE "$tag" "$in" | sort) <(grep -oE "$tag" "$out" | sort) "tags changed"
      done
      # Karaoke stays in order.
      karaoke='<[0-9][^>]*>|\{\\k[^}]*\}'
      same <(grep -noE "$karaoke" "$in") <(grep -noE "$karaoke" "$out") "karaoke changed"
      grep -qE "Ein (Hund rennt|Mann singt)" "$out" || fail "$name is not translated"
      for ending in $'\r\n' $'\r'; do
        perl -pe "s/\n/$ending/" "$in" >"$tmp/ending"
        run "$tmp/ending" "$tmp/ending.out"
        same <(perl -pe "s/\n/$ending/" "$out") "$tmp/ending.out" "line ends make a difference"
      done
      { printf '\xef\xbb\xbf' && head -c -1 "$in"; } >"$tmp/bom"
      run "$tmp/bom" "$tmp/bom.out"
      same <(printf '\xef\xbb\xbf' && head -c -1 "$out") "$tmp/bom.out" "a byte order mark or the last line end makes a difference"
    done
    has "$tmp/out.sample.srt" "- Ein Mann singt."
    has "$tmp/out.sample.srt" '{\an8}Ein Hund rennt.'
    # Each speaker's text is translated alone. What an override encloses, it encloses in the translation.
    run_echo "$data/speakers.srt" "$tmp/echoed"
    texts "A man sings." "A woman sings." "A man sings</i> on a bench." "A woman sings." "A man sings." \
      "A woman. &gt;&gt; A man." "A man sings ♪" "A woman sings ♪" \
      'A man with a <o-2>red</o-2> hat <o-4>sits</o-4> on a bench.' "A dog runs." "A man sings." "A man"
    for text in "– Eine Frau singt." ">>> Eine Frau. &gt;&gt; Ein Mann" "♪ Eine Frau singt" '{\an8}<i>—Ein Mann singt</i>' \
      '{\an8}Ein Mann mit einem {\b1}roten{\b0} Hut {\c&H0000FF&\i1}sitzt{\i0\c}' '{\k20}Ein {\k30}Hund {\k40}rennt.'; do
      has "$tmp/out.speakers.srt" "$text"
    done
    # A row that rolls up is the same wherever it is shown.
    run_echo "$data/rolling.vtt" "$tmp/echoed"
    texts {,,}"a dog runs" {,,}"a man is riding a bicycle" "a woman sings" {,}"a man is sitting on a bench"
    has "$tmp/out.rolling.vtt" 'Ein<00:00:00.480><c> Hund</c><00:00:00.880><c> rennt.</c>'
    [ "$(grep -cx 'Ein Hund rennt.' "$tmp/out.rolling.vtt")" = 2 ] || fail "a row has several translations"
    has "$tmp/out.rolling.vtt" '&gt;&gt; Eine Frau singt'
    printf '1\n00:01 --> 00:02\nA dog\nruns.\n\n2\n00:02 --> 00:03\nruns.\nA man\nsings.\n' >"$tmp/in"
    run_echo "$tmp/in" "$tmp/echoed"
    texts "A dog" "runs." "runs." "A man sings."
    # A note of ASS stays in its text, and a hard space is a space.
    run_echo "$data/sample.ass" "$tmp/echoed"
    texts "A dog runs." 'A man is riding a <o-2>red</o-2> bicycle, <wbr id="3">down the street.' "A dog runs." \
      $'A\u00a0man sings.' "A man sings." "A woman sings."
    # No row is empty, and fewer words than rows make fewer rows. Chinese is cut anywhere, but not in front of a mark.
    rows() {  # TRANSLATION ROWS: those of a cue with as many rows as are expected
      fake "cat >/dev/null; echo '$1'"
      printf '1\n00:01 --> 00:02\n%bA dog.\n' "$3" >"$tmp/in"
      program=$tmp/fake run "$tmp/in" "$tmp/out"
      same <(printf '1\n00:01 --> 00:02\n%b\n' "$2") "$tmp/out" "other rows"
    }
    rows 'Ein Hund' 'Ein\nHund' 'A\nB\n'
    rows 'Donaudampfschiffahrt' '- Donaudampfschiffahrt' '- A\n'
    rows '<i>Hund </i>' '<i>Hund </i>' 'A\nB\n'
    rows 'a b Donaudampfschiffahrt' '- a\nb\nDonaudampfschiffahrt' '- A\nB\n'
    rows '今日は、天気' '今日\nは、天気' 'A\n'
    rows '今日は。いい天' '今日は。\nいい天' 'A\n'
    rows '' 'A\nA dog.' 'A\n'
    printf '1\n00:01 --> 00:02\n今日は\nいい天気\n' >"$tmp/in"
    run_echo "$tmp/in" "$tmp/out"
    texts '今日はいい天気'
    printf 'WEBVTT\n\n00:01 --> 00:02\n<v A>A dog\nruns.\n<v B>A man has\n-2 dogs.\n' >"$tmp/in"
    run_echo "$tmp/in" "$tmp/out"
    texts '<v A>A dog runs.' '<v B>A man has -2 dogs.'
    for name in -x.srt a=b.srt; do
      cp "$data/sample.srt" "$tmp/$name"
      (cd "$tmp" && run "$name" "-out.$name")
      same "$tmp/out.sample.srt" "$tmp/-out.$name" "the name $name makes a difference"
    done
    echo '{1}{25}A dog runs.' >"$tmp/in"
    refused 1 "$tmp/in" "$tmp/no_output"
    has "$tmp/err" "$tmp/in has no cues"
    iconv -f UTF-8 -t UTF-16 "$data/sample.srt" >"$tmp/in"
    refused 1 "$tmp/in" "$tmp/no_output"
    has "$tmp/err" "iconv"
    # A command that loses a line fails.
    program=$tmp/fake refused 1 "$data/sample.srt" "$tmp/no_output"
    ;;
  mail)
    need python3 python3
    in="$data/sample.eml" out="$tmp/out.eml"
    run_echo "$in" "$tmp/echo.eml"
    same "$in" "$tmp/echo.eml" "not the same mail"
    texts "$(sed '1,/^$/d' "$in")"
    run "$in" "$out"
    same <(sed '/^$/q' "$in") <(sed '/^$/q' "$out") "the header changed"
    [ "$(tail -n 2 "$out" | head -n 1)" = "-- " ] || fail "the signature is lost"
    for line in "> Ein Hund rennt." "> > Ein Mann singt." "* Eine Frau singt."; do
      grep -qx -e "$line" "$out" || { cat "$out"; fail "there is no line '$line'"; }
    done
    [ "$(sed '1,/^$/d' "$out" | wc -L)" -le 72 ] || fail "lines are too long"
    sed '/^$/q; s/8bit/base64/' "$in" >"$tmp/in.base64"
    sed '1,/^$/d' "$in" | base64 >>"$tmp/in.base64"
    run "$tmp/in.base64" "$tmp/out.base64"
    same <(sed '1,/^$/d' "$out") <(sed '1,/^$/d' "$tmp/out.base64" | base64 -d) "base64 makes a difference"
    sed 's/$/\r/' "$in" >"$tmp/crlf"
    run "$tmp/crlf" "$tmp/crlf.out"
    same <(sed 's/$/\r/' "$out") "$tmp/crlf.out" "CR LF makes a difference"
    # Fields may go over several lines.
    sed '/^Content-Transfer-/s/ base64/\n base64/' "$tmp/in.base64" >"$tmp/folded"
    run "$tmp/folded" "$tmp/out.folded"
    same <(sed '1,/^$/d' "$tmp/out.base64") <(sed '1,/^$/d' "$tmp/out.folded") "a folded field makes a difference"
    # A charset without ASCII.
    printf '%s\n' 'Content-Type: text/plain; charset=utf-16' 'Content-Transfer-Encoding: base64' '' \
      "$(printf 'A dog runs.\n' | iconv -t UTF-16 | base64)" >"$tmp/utf16"
    run "$tmp/utf16" "$tmp/out.utf16"
    has "$tmp/out.utf16" 'charset="utf-8"'
    sed '1,/^$/d' "$tmp/out.utf16" | base64 -d >"$tmp/utf8"
    has "$tmp/utf8" "Ein Hund"
    mail() { printf '%b\n' "Subject: 7bit charset=x" "$1" "A d\xf6g runs." | sed "${2:-}" >"$tmp/in"; }  # FIELDS SED
    for fields in 'Content-Type:\n multipart/mixed; boundary=x\n' 'content-type : (a) application/pdf\n' \
      'Content-Type: text/plain; charset=unheard-of\n' 'Content-Transfer-Encoding: x-uuencode\n' \
      'Content-Type: text/plain; charset=utf-8\n' ''; do
      mail "$fields"
      refused 1 "$tmp/in" "$tmp/no_output"
    done
    # The header says what the body has become, and says it only where that is new.
    says() {  # FIELDS FIELDS: those of IN, those of OUT
      mail "$1\n" 's/\xf6/o/'
      run_echo "$tmp/in" "$tmp/echo.eml"
      same "$tmp/in" "$tmp/echo.eml" "ASCII changed"
      program=$tmp/fake run "$tmp/in" "$tmp/out"
      mail "$2\n" 's/\xf6/ö/'
      same "$tmp/in" "$tmp/out" "the header is wrong"
    }
    fake 'exec sed s/o/ö/'
    version='MIME-Version: 1.0' type='Content-Type: text/plain' encoding='Content-Transfer-Encoding:'
    said="$type; charset=\"utf-8\"\n$encoding 8bit"
    says 'X: 7bit' "X: 7bit\n$version\n$said"
    says "$version\n$type; format=flowed\n$encoding 7Bit" "$version\n${said/;/; format=flowed;}"
    says "$type;\n\tCharset = \"US-ASCII\"; x=y\nMime-version: 1.0\n$encoding\n  7bit (a)\nX: y" "Mime-version: 1.0\nX: y\n${said/8\"/8\"; x=\"y\"}"
    says "$type; charset=\"UTF-8\"\n$encoding 8bit" "$type; charset=\"UTF-8\"\n$encoding 8bit"
    mail "$version\n$type; charset=ISO-8859-1\n$encoding 8bit\n"
    run_echo "$tmp/in" "$tmp/out"
    texts "A dög runs."
    same "$tmp/in" "$tmp/out" "a text that stays changed"
    fake 'exec sed s/dög/Höhle/'
    program=$tmp/fake run "$tmp/in" "$tmp/out"
    same <(printf '%b\n' "Subject: 7bit charset=x\n$version\n$said\n\nA Höhle runs.") "$tmp/out" "Latin-1 did not become UTF-8"
    # Lines that flow are one; those that come out do not flow.
    flowed="$type; format=flowed; delsp="
    printf '%s\n' "${flowed}no" '' 'A dog ' 'runs.' ' From here a man ' 'sings.' '  A dog.' '> A dog ' '> runs.' '>> A man ' \
      'A woman ' '-- ' 'A dog ' >"$tmp/in"
    run_echo "$tmp/in" "$tmp/out"
    texts {"A dog runs.","From here a man sings."," A dog.","> A dog runs.",">> A man","A woman"}"  " "-- " "A dog  "
    same <(printf '%s\n' "${flowed}no" '' 'A dog runs.' ' From here a man sings.' '  A dog.' '> A dog runs.' '>> A man' \
      'A woman' '-- ' 'A dog') "$tmp/out" "lines flow"
    printf '%s\n' "${flowed}yes" '' 'A do ' 'g runs.' >"$tmp/in"
    run_echo "$tmp/in" "$tmp/out"
    texts "A dog runs.  "

    # HTML may say its character set alone, and says the new one.
    printf '%b' "$version\n$type\n\n<meta charset=iso-8859-1><p>A d\xf6g runs.\n" | sed 's,/plain,/html,' >"$tmp/in"
    fake 'exec sed s/runs/rennt/'
    program=$tmp/fake run "$tmp/in" "$tmp/out"
    has "$tmp/out" "<meta charset=utf-8><p>A dög rennt."
    has "$tmp/out" 'text/html; charset="utf-8"'
    if perl -MMIME::QuotedPrint -e 1 2>/dev/null; then
      sed '/^$/q; s/8bit/quoted-printable/' "$in" >"$tmp/in.quoted"
      sed '1,/^$/d' "$in" | perl -MMIME::QuotedPrint -pe '$_ = encode_qp($_)' >>"$tmp/in.quoted"
      run "$tmp/in.quoted" "$tmp/out.quoted"
      same <(sed '1,/^$/d' "$out") <(sed '1,/^$/d' "$tmp/out.quoted" | perl -MMIME::QuotedPrint -pe '$_ = decode_qp($_)') \
        "quoted-printable makes a difference"
    else
      echo "skipped: recipe mail, quoted-printable: there is no MIME::QuotedPrint (apt-get install perl)"
    fi

    # Of several parts, only texts change; what is signed, encrypted or attached stays byte for byte.
    in="$data/parts.eml"
    fake 'exec sed s/runs/rönns/'
    program=$tmp/fake run "$in" "$tmp/out"
    diff "$in" "$tmp/out" >"$tmp/changes" || true
    same "$data/parts.diff" "$tmp/changes" "other changes"
    sed 's/$/\r/' "$in" >"$tmp/crlf"
    program=$tmp/fake run "$tmp/crlf" "$tmp/crlf.out"
    same <(sed 's/$/\r/' "$tmp/out") "$tmp/crlf.out" "CR LF makes a difference"
    run "$in" "$tmp/out"
    has "$tmp/out" '<p class="dog">Ein <b>Hund</b> rennt.</p>'
    [ "$(grep -cx 'Ein Hund rennt.' "$tmp/out")" = 3 ] || fail "not all parts are translated"
    [ "$(grep -x -A1 'Ein Hund rennt.' "$tmp/out" | grep -c -e "^--[ad]")" = 2 ] || fail "lines were added"
    run "$in" "$tmp/wrapped" --wrap=40
    [ "$(sed -n '/^Ein Hund/,/^$/p' "$tmp/wrapped" | wc -L)" -le 50 ] || fail "--wrap is not heeded"
    # Whichever line is missing, all comes out, or one line says why not.
    for ((i = 0; i <= $(wc -l <"$in"); i++)); do
      awk -v i="$i" 'NR != i' "$in" >"$tmp/damaged"
      rm -f "$tmp/out"
      if NIBU_TRANSLATE="$tmp/echo" "$root/tools/recipes/mail.sh" "$tmp/damaged" "$tmp/out" 2>"$tmp/err"; then
        same "$tmp/damaged" "$tmp/out" "not the same mail without line $i"
      else
        [ ! -e "$tmp/out" ] && [ "$(wc -l <"$tmp/err")" = 1 ] || fail "more than one error without line $i"
        has "$tmp/err" "error: $tmp/damaged"
      fi
    done
    wrong() {  # MESSAGE SED: what is said of the parts after an edit
      sed -E "$2" "$in" >"$tmp/in"
      refused 1 "$tmp/in" "$tmp/no_output"
      has "$tmp/err" "$tmp/in$1"
    }
    wrong " names no boundary" "s/^\tboundary.*/\tx=y/"
    wrong " has no parts" "s/^\tboundary.*/\tboundary=x/"
    wrong ", part 1 (multipart/alternative), has no parts" "s/boundary=\"a dog's own/&er/"
    wrong ", part 1.1 (text/plain), is in unheard-of," 's/charset=iso-8859-1;/charset=unheard-of;/'
    wrong ", part 1.1 (text/plain), is encoded by x-y," 's/quoted-printable/x-y/'
    wrong ", part 1.2 (text/html), is not in base64," 's/^X-Dog.*/Content-Transfer-Encoding: base64/'
    wrong " has no text" 's,multipart/mixed,multipart/signed,'
    wrong " has no text" 's,^X-Folded:.*,Content-Type: application/pkcs7-mime,; s/^Content-Type: multipart.mixed;/X:/'
    ;;
  *) fail "there is no such recipe" ;;
esac
echo "$recipe: passed"
