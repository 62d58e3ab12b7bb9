#!/usr/bin/env bash
# po.sh IN OUT [nibu-translate flags]: gettext catalogues. Untranslated and fuzzy messages are translated.
# shellcheck disable=SC1091,SC2154 # common.sh sets in, out, recipes, nibu, tmp
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need msgfilter gettext

# A message that has a translation keeps it; else its lines go to descriptor 3, or come from there.
export SINGULAR=0
# shellcheck disable=SC2016
filter='
  if IFS= read -r had; then printf "%s\n" "$had"; exec cat; fi
  if [ -n "$had" ]; then printf %s "$had"; exit; fi
  text=$MSGFILTER_MSGID
  [ "${MSGFILTER_PLURAL_FORM:-$SINGULAR}" = "$SINGULAR" ] || text=$MSGFILTER_MSGID_PLURAL
  if [ "$0" = texts ]; then printf "%s\n" "$text" >&3; exit; fi
  newline=
  while IFS= read -r source; do
    IFS= read -r target <&3 || exit 1
    printf "$newline%s" "${target:-$source}"
    newline="\n"
  done <<END
$text
END'
msgconv --to-code=UTF-8 "$in" | sed '1,/^msgid/ s/^#, fuzzy$/#/' |  # a new file's header is fuzzy, too
  tee "$tmp/all" | msgattrib --no-obsolete --clear-fuzzy --clear-previous --empty >"$tmp/in"
! grep -q 'nplurals *= *1;' "$tmp/in" || SINGULAR=none  # the only form is the plural
msgfilter --keep-header -i "$tmp/in" -o /dev/null sh -c "$filter" texts 3>"$tmp/source"
"$nibu" "$@" <"$tmp/source" >"$tmp/target"
msgfilter --keep-header -i "$tmp/in" -o "$tmp/out" sh -c "$filter" translations 3<"$tmp/target"
msgattrib --only-obsolete "$tmp/all" | msgcat --use-first "$tmp/out" - >"$out"
msgfmt --check-format -o /dev/null "$out" || fail "$out is written, but these messages need a look"
