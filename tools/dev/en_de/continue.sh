#!/usr/bin/env bash
# Trains the bundled English-German model further with the kit in $TRAIN, and measures what comes out.
#
#   continue.sh prepare WORK            builds the trainer; weights, token ids, order (3 minutes, 3 GB)
#   continue.sh train WORK MINUTES      trains; the learning rate falls linearly to 0 within MINUTES
#   continue.sh export WORK OUT [average|model]    writes a Hugging Face directory and compares its files with the bundled one's
#   continue.sh evaluate WORK MODEL     the rows of the card, held_out.tsv and the reports of users
#
# Variables: TRAIN, the folder with general.py, kit/ and corpus/ (../shared/train); DATA (../shared/data); BIN, the folder of
# nibu's programs (build/release/bin); FROM, the weights to begin with (models/pretrained/en-de); RATE, the highest learning
# rate (1e-3); STATE, the state to begin with (WORK/mix/state.raw; a second stretch begins with a copy of WORK/cooled.raw);
# TYPES, the compute types to measure with ("float32 int8"). A train that SIGTERM ends saves its state.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
TRAIN=$(cd "${TRAIN:-$root/../shared/train}" && pwd)
DATA=$(cd "${DATA:-$root/../shared/data}" && pwd)
BIN=${BIN:-$root/build/release/bin}
FROM=$(cd "${FROM:-$root/models/pretrained/en-de}" && pwd)
export TRAIN PYTHONDONTWRITEBYTECODE=1
python=/usr/bin/python3  # Debian's, which has torch
[ $# -ge 2 ] || { sed -n '2,14s/^# \?//p' "$0"; exit 2; }
command=$1
mkdir -p "$2"
work=$(cd "$2" && pwd)

say() { echo "$(date +%T) $*"; }

prepare() {
  mkdir -p "$work/bundled" "$work/corpus" "$work/mix"
  say "build the trainer"
  g++ -O3 -march=native -pthread "$TRAIN/kit/train.cc" -o "$work/train"
  say "turn the weights of $FROM into a state"
  "$python" "$here/weights.py" "$FROM" "$work/bundled.pt"
  "$python" "$TRAIN/kit/convert.py" toraw "$work/bundled.pt" "$work/bundled/cooled.raw"
  cp "$FROM/source.spm" "$work/bundled/joint.model"
  # prep2.py counts pieces in the ids of the model before only to replace rare ones, and this vocabulary lacks none that it wants.
  "$python" -c "
import numpy, sys
w = sys.argv[1]
numpy.save(w + '/ids.npy', numpy.zeros(2, numpy.uint16)); numpy.save(w + '/starts.npy', numpy.arange(3))
numpy.zeros(1, numpy.int32).tofile(w + '/order.i32')" "$work/bundled"
  say "token ids, variants, order and lexical table of the corpus"
  "$python" "$TRAIN/kit/prep2.py" "$work/bundled" "$work/corpus" >"$work/prep2.log"
  grep -q '^replaced \[\]$' "$work/prep2.log" || { echo "prep2.py replaced pieces of the vocabulary" >&2; exit 1; }
  cmp "$FROM/source.spm" "$work/corpus/joint.model"
  tail -1 "$work/prep2.log"
  say "pairs"
  "$python" "$here/pairs.py" "$work/pairs.tsv"
  "$python" "$here/check_pairs.py" "$work/pairs.tsv"
  "$python" "$here/mix.py" "$work/corpus" "$work/pairs.tsv" "$work/mix"
  say "ready: $0 train $work MINUTES"
}

train() {
  local minutes=$1 pid
  say "train for $minutes minutes"
  [ ! -e "$work/cooled.raw" ] || mv "$work/cooled.raw" "$work/cooled.before.raw"
  # MICRO=8: 8 micro-batches of 1,024 rows, some 8,000 target tokens, a step. MUON=1: Muon's updates are as large as Adam's.
  MUON=1 MICRO=${MICRO:-8} RATE=${RATE:-1e-3} OUT="$work/cooled.raw" \
    "$work/train" "${STATE:-$work/mix/state.raw}" "$work/mix" "$minutes" cool >>"$work/train.log" 2>&1 &
  pid=$!
  trap 'kill "$pid"' TERM INT
  while kill -0 "$pid" 2>/dev/null; do wait "$pid" || true; done
  trap - TERM INT
  tail -2 "$work/train.log"
  [ -s "$work/cooled.raw" ] || { echo "the trainer wrote no state" >&2; exit 1; }
  say "trained: $0 export $work OUT"
}

export_model() {
  local out=$1 which=${2:-average}
  # exp2.sh calls the convert.py in its own folder.
  (cd "$TRAIN/kit" && WORK="$work/mix" bash ./exp2.sh "$work/cooled.raw" "$out" "$which")
  for file in config.json generation_config.json special_tokens_map.json tokenizer_config.json source.spm target.spm vocab.json; do
    cmp "$FROM/$file" "$out/$file" && echo "$file is the same"
  done
  [ "$(stat -c %s "$FROM/model.safetensors")" = "$(stat -c %s "$out/model.safetensors")" ] && echo "model.safetensors has the same size"
  du -b --apparent-size -s "$out"
}

evaluate() {
  local model=$1 results=$work/evaluation
  BIN=$(cd "$BIN" && pwd)
  mkdir -p "$results"
  "$python" "$here/rows.py" "$TRAIN" "$results"
  cp "$DATA/multi30k.test_2016_flickr.en" "$results/multi30k-test.en"
  cp "$DATA/multi30k.test_2016_flickr.de" "$results/multi30k-test.de"
  if [ -e "$DATA/newstest2020.en" ]; then
    cp "$DATA/newstest2020.en" "$DATA/newstest2020.de" "$results/"
  fi
  "$here/judge.py" inputs >"$results/held_out.en"
  for type in ${TYPES:-float32 int8}; do
    say "$type"
    for source in "$results"/*.en; do
      "$BIN/nibu-translate" --model="$model" --compute_type="$type" --src="$source" --out="${source%.en}.$type"
      [ ! -e "${source%.en}.de" ] || echo "$(basename "${source%.en}") $type $("$BIN/nibu-bench" bleu "${source%.en}.$type" "${source%.en}.de" | head -1)"
    done | tee "$results/bleu.$type"
    "$here/judge.py" "$results/held_out.$type" | tee "$results/judged.$type" | tail -2 || true
  done
  printf '#!/bin/sh\nexec "%s/nibu-translate" --model="%s" "$@"\n' "$BIN" "$model" >"$results/translate"
  chmod +x "$results/translate"
  "$python" "$DATA/reports/check.py" "$results/translate" "$DATA/reports/cases.jsonl" || true
}

case "$command" in
  prepare) prepare ;;
  train) train "$3" ;;
  export) export_model "$(realpath -m "$3")" "${4:-average}" ;;
  evaluate) evaluate "$(cd "$3" && pwd)" ;;
  *) sed -n '2,14s/^# \?//p' "$0"; exit 2 ;;
esac
