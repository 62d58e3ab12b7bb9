#!/usr/bin/env bash
# help_pages_test.sh BIN: groff and mandoc have no complaint about the man pages of the programs in the folder BIN, bash
# and zsh read the completion scripts, and bash completes with them. Tools that are not installed check nothing.
set -euo pipefail
bin=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$*" >&2; exit 1; }
has() { command -v "$1" >/dev/null; }

programs=(translate score split convert inspect "inspect attention" "inspect convolution" bench "bench attention" "bench bleu" marian "marian score")
for program in "${programs[@]}"; do
  read -ra words <<<"$program"
  for kind in man bash zsh; do
    "$bin/nibu-${words[0]}" "${words[@]:1}" "--help=$kind" >"$work/$kind"
  done
  if has groff; then
    complaints=$(groff -man -ww -z -Tascii "$work/man" 2>&1)
    [ -z "$complaints" ] || fail "the man page of nibu-$program: $complaints"
  fi
  if has mandoc; then
    # Pages have no date: the same sources give the same pages.
    complaints=$(mandoc -Tlint -Wwarning <"$work/man" | grep -v 'missing date' || true)
    [ -z "$complaints" ] || fail "the man page of nibu-$program: $complaints"
  fi
  bash -n "$work/bash"
  ! has zsh || zsh -n "$work/zsh"
done
"$bin/nibu-inspect" --help=man >"$work/man"
grep -q 'OPTIONS OF NIBU\\-INSPECT ATTENTION' "$work/man" || fail "no options of nibu-inspect attention"

# Completion, called as bash calls it.
cd "$work"
mkdir files files/folder
touch files/a.txt 'files/a b.txt'
for name in translate inspect bench convert; do
  "$bin/nibu-$name" --help=bash >"$name.bash"
  # shellcheck source=/dev/null
  source "$name.bash"
  complete -p "nibu-$name" >/dev/null
done
compopt() { options+=" $2"; }  # The real one works only within a completion.
# expect OPTIONS REPLIES WORD...: the last WORD is completed to REPLIES, which are joined by "|", with these options.
expect() {
  local said name=${3//-/_}
  COMP_WORDS=("${@:3}")
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  COMPREPLY=()
  options=""
  "_$name"
  said=$(IFS='|'; echo "${COMPREPLY[*]}")
  [ "$said" = "$2" ] || fail "${*:3}: completed to \"$said\", not to \"$2\""
  [ "${options# }" = "$1" ] || fail "${*:3}: completed with the options \"${options# }\", not with \"$1\""
}
expect nospace --beam_size= nibu-translate --beam
expect "" --tokenized nibu-translate --token
expect nospace '--src=|--src_lang=' nibu-translate --json --src
expect "" --nosplit_sentences nibu-translate --nos
# Values, behind "=" and behind a blank; where "=" does not part words, too.
expect "" 'none|html|xml' nibu-translate --markup =
expect "" html nibu-translate --markup = h
expect "" html nibu-translate --tokenized --markup h
expect "" --markup=html nibu-translate --markup=h
expect "" 'true|false' nibu-translate --tokenized =
expect "" 'true|false|auto' nibu-translate --progress =
expect "" 'man|markdown' nibu-translate --help = m
# A Boolean takes no word behind a blank, and numbers and languages are not guessed.
expect "" "" nibu-translate --tokenized ""
expect "" "" nibu-translate --beam_size =
expect "" "" nibu-translate --src_lang = f
# Names of files.
expect filenames 'files/a b.txt|files/a.txt' nibu-translate --src = files/a
expect filenames files/a.txt nibu-translate --src files/a.
expect filenames --src=files/a.txt nibu-translate --src=files/a.
expect filenames files/folder nibu-convert --out = files/f
expect filenames files/folder nibu-translate --draft_model = files/f
# Commands that are the first argument.
expect "" 'attention|convolution' nibu-inspect ""
expect nospace --html= nibu-inspect attention --ht
expect "" "" nibu-inspect --ht
expect nospace --mechanisms= nibu-bench attention --mec
expect "" 'bfloat16' nibu-bench attention --compute_type = b
echo "man pages and completion are good"
