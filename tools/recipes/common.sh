# shellcheck shell=bash disable=SC2034,SC2015
# Sourced first by every recipe: IN OUT [flags] become $in, $out and "$@"; $nibu is the program, $tmp a folder.
set -euo pipefail
name=${0##*/}
fail() { echo "$name: error: $1" >&2; exit 1; }
need() { command -v "$1" >/dev/null || fail "there is no $1; apt-get install $2"; }
utf8() { iconv -f UTF-8 -t UTF-8 "$1" >/dev/null 2>&1 || fail "$in is not UTF-8; iconv -f ENCODING -t UTF-8"; }

if [ "$#" -lt 2 ]; then
  echo "Usage: tools/recipes/$name IN OUT [nibu-translate flags]" >&2
  exit 2
fi
in=$1 out=$2
shift 2
# Names that tools would take for options, or awk for assignments.
case $in in -* | *=*) [[ $in == /* ]] || in=./$in ;; esac
[[ $out != -* ]] || out=./$out
[ -f "$in" ] && [ -r "$in" ] || fail "cannot read $in"
folder=$(dirname "$out")
[ -d "$folder" ] || fail "cannot write $out: there is no folder $folder"
[ ! -d "$out" ] || fail "cannot write $out: it is a folder"
recipes=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
nibu=${NIBU_TRANSLATE:-$recipes/../../build/release/bin/nibu-translate}
[ -n "${NIBU_TRANSLATE:-}" ] || [ -x "$nibu" ] || nibu="nibu-translate"
command -v "$nibu" >/dev/null || fail "there is no $nibu; build it (tools/quickstart.sh) or name it in NIBU_TRANSLATE"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
