#!/usr/bin/env bash
# tools/get_model.sh MODEL: fetches a model, so that every program of nibu finds it by its name; --help says how.
# `cmake --install` installs it as nibu-get-model. It needs curl, and unzip for zip archives other than Argos
# Translate's.
# shellcheck disable=SC2034  # variables that the parts in get_model/ use
set -euo pipefail
export LC_ALL=C
program=${0##*/}
tab=$'\t'

usage() {
  cat <<USAGE
Usage: $program MODEL [--name=NAME]

Fetches a model, so that nibu-translate --model=NAME finds it. MODEL is one of

  opus-mt-en-fr             an OPUS-MT model, one of some 1,000 pairs of languages, about 300 MB
  nllb-200-distilled-600M   NLLB; also m2m100_418M, mbart-large-50-many-to-many-mmt, madlad400-3b-mt, t5-small
  OWNER/NAME                any other repository of Hugging Face, https://huggingface.co/OWNER/NAME
  firefox en-de             a student of Firefox: small, fast, made for CPUs, 15 to 60 MB
  argos en-de               a package of Argos Translate, which LibreTranslate uses, about 100 MB
  firefox, argos            without a pair: lists their pairs
  URL                       a .zip, .argosmodel, .tar.gz or single file

NAME is the model's name, firefox-en-de, argos-en-de or what the URL ends in, unless --name gives another one.

The same command goes on with an interrupted download. Models lie in \$NIBU_MODELS or, without it, in
\${XDG_DATA_HOME:-~/.local/share}/nibu/models. Remove a model's folder or file there to remove it.

Variables of the environment: https_proxy and the others of curl; HF_ENDPOINT, the address of a mirror of Hugging
Face; NIBU_FIREFOX_REGISTRY and NIBU_ARGOS_INDEX, those of the lists of Firefox's and Argos Translate's models.
USAGE
}

fail() { echo "$program: error: $1" >&2; exit 1; }
wrong_usage() { echo "$program: error: $1; $program --help lists what there is" >&2; exit 2; }
note() { echo "$program: $1" >&2; }
megabytes() { echo "$((($1 + 999999) / 1000000)) MB"; }
is_name() { [[ $1 =~ ^[A-Za-z0-9_][A-Za-z0-9._-]*$ ]]; }

folder=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
[ -d "$folder/get_model" ] || folder="$folder/../share/nibu"  # where it is installed
for part in download store registries; do
  # shellcheck source=/dev/null
  source "$folder/get_model/$part.sh"
done

not_there=""  # what to say if a file is not there, in place of the general message
work=""
wanted_name=""
arguments=()
for argument in "$@"; do
  case $argument in
    --help | -h) usage; exit 0 ;;
    --name=*) wanted_name=${argument#--name=} ;;
    -*) wrong_usage "unknown flag \"$argument\"" ;;
    *) arguments+=("$argument") ;;
  esac
done
[ "${#arguments[@]}" -gt 0 ] || { usage >&2; exit 2; }
what=${arguments[0]}
pair=""
case $what in
  firefox | argos) [ "${#arguments[@]}" -le 2 ] || wrong_usage "$what takes one pair, as in $what en-de" ;;
  *) [ "${#arguments[@]}" -eq 1 ] || wrong_usage "one model at a time, not \"${arguments[*]}\"" ;;
esac
case $what in
  firefox | argos) pair=${arguments[1]:-} ;;
  firefox-* | argos-*) pair=${what#*-} what=${what%%-*} ;;
esac
pair=${pair//_/-}
if [ -n "$pair" ] && ! [[ $pair =~ ^[A-Za-z]+(-[A-Za-z]+)+$ ]]; then
  wrong_usage "\"$pair\" is no pair of languages such as en-de"
fi
command -v curl >/dev/null || fail "there is no curl; apt-get install curl"
models=${NIBU_MODELS:-}
if [ -z "$models" ]; then
  [ -n "${XDG_DATA_HOME:-}${HOME:-}" ] || fail "neither NIBU_MODELS nor HOME is set, so there is no folder for models"
  models="${XDG_DATA_HOME:-${HOME:-}/.local/share}/nibu/models"
fi
tmp=$(mktemp -d 2>/dev/null) ||
  fail "${TMPDIR:-/tmp}: no temporary folder can be made there; TMPDIR can name another place"
# Removes the lists, and the model's folder unless it has files, whole or not, that the next call can use.
clean_up() {
  rm -rf -- "$tmp"
  [ -z "$work" ] ||
    [ -n "$(find "$work" -type f ! -name origin.txt ! -name '*.headers' ! -name '*.new' -print -quit 2>/dev/null)" ] ||
    rm -rf -- "$work"
}
trap clean_up EXIT
# interrupt STATUS: ends curl, which would go on by itself, and the program.
interrupt() {
  local id
  trap '' INT TERM HUP
  for id in $(jobs -p); do
    kill "$id" 2>/dev/null || true
    wait "$id" 2>/dev/null || true
  done
  [ ! -t 2 ] || echo >&2  # The progress bar's line ends.
  note "interrupted; the same command goes on with the download" || true
  exit "$1"
}
trap 'interrupt 129' HUP
trap 'interrupt 130' INT
trap 'interrupt 143' TERM

case $what in
  firefox | argos) "$what" "$pair" ;;
  http://* | https://*) from_url "$what" ;;
  */*)
    [[ $what =~ ^[A-Za-z0-9_][A-Za-z0-9._-]*/[A-Za-z0-9_][A-Za-z0-9._-]*$ ]] || wrong_usage "unknown model \"$what\""
    hugging_face "$what" ;;
  opus-mt-?*) hugging_face "Helsinki-NLP/$what" ;;
  nllb-?* | m2m100_?* | mbart-?*) hugging_face "facebook/$what" ;;
  madlad400-?* | mt5-?*) hugging_face "google/$what" ;;
  t5-?*) hugging_face "google-t5/$what" ;;
  *) wrong_usage "unknown model \"$what\"" ;;
esac
