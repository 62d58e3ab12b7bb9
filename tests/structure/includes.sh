#!/usr/bin/env bash
# includes.sh ROOT: fails when an #include crosses a border that the folders must keep:
#   tools -> models, tokenizer, engine; models -> engine; tokenizer and engine -> nobody.
set -euo pipefail
cd "$1"
bad=0

# forbid MESSAGE PATTERN EXCEPT FOLDER...: no source of the folders includes what matches PATTERN, but for
# the files that match EXCEPT.
forbid() {
  local message=$1 pattern=$2 except=$3 lines
  shift 3
  lines=$(find "$@" \( -name '*.h' -o -name '*.cc' \) -exec \
    grep -HE "^ *# *include +[<\"]($pattern)" {} + | grep -vE "^($except):" || true)
  [ -n "$lines" ] || return 0
  printf '%s\n%s\n' "$message" "$lines"
  bad=1
}

forbid "engine knows no file format and no text:" '(models|tokenizer)/' - engine
forbid "tokenizer knows no engine and no model:" '(engine|models)/' - tokenizer
forbid "models know no text:" 'tokenizer/' - models
forbid "nothing includes tools:" 'tools/' - engine models tokenizer
forbid "oneDNN is engine/ops' alone:" 'dnnl' 'engine/ops/.*' engine models tokenizer tools
forbid "SentencePiece is one file's alone:" 'sentencepiece_processor' \
  'tokenizer/sentencepiece_model.cc' engine models tokenizer tools
forbid "ICU is the tokenizer's alone:" 'unicode/' 'tokenizer/.*' engine models tokenizer tools
forbid "Highway stays out of headers (but -inl.h):" 'hwy/' '.*(\.cc|-inl\.h)' engine models tokenizer tools
exit "$bad"
