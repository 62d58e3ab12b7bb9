#!/usr/bin/env bash
# includes.sh ROOT: fails when an #include crosses a border that the folders must keep:
#   tools -> models, tokenizer, engine; models -> engine; tokenizer -> engine/core; engine -> nobody;
# or the order of the places within a folder; or when a public header needs anything internal.
set -euo pipefail
cd "$1"
bad=0

# includes PATTERN FOLDER...: "FILE:#include ..." of all that match PATTERN.
includes() {
  local pattern=$1
  shift
  find "$@" \( -name '*.h' -o -name '*.cc' \) -exec \
    grep -HE "^ *# *include +[<\"]($pattern)" {} + || true
}

# forbid MESSAGE PATTERN EXCEPT FOLDER...: no source of the folders includes what matches PATTERN, but for
# the lines "FILE:#include ..." that begin with EXCEPT.
forbid() {
  local message=$1 pattern=$2 except=$3 lines
  shift 3
  lines=$(includes "$pattern" "$@" | grep -vE "^($except)" || true)
  [ -n "$lines" ] || return 0
  printf '%s\n%s\n' "$message" "$lines"
  bad=1
}

# order FOLDER PLACE...: the places of a folder, the lowest first, NAME or NAME,NAME for those beside each other. A
# place is a folder or a file; "." stands for all other files that lie directly in FOLDER. A file includes only
# its own place and lower ones.
order() {
  local folder=$1 lines
  shift
  lines=$(includes "$folder/" "$folder" | awk -v folder="$folder" -v places="$*" '
    function place(path) {
      sub("^" folder "/", "", path)
      if (path ~ "/") return substr(path, 1, index(path, "/") - 1)
      return path in height ? path : "."
    }
    BEGIN {
      for (i = split(places, list, " "); i > 0; --i) {
        for (j = split(list[i], beside, ","); j > 0; --j) height[beside[j]] = i
      }
    }
    {
      from = place(substr($0, 1, index($0, ":") - 1))
      split($0, quoted, "[<\"]")
      to = place(quoted[2])
      if (!(from in height) || !(to in height) || (from != to && height[to] >= height[from])) print
    }')
  [ -n "$lines" ] || return 0
  printf '%s\n%s\n' "$folder: a file includes its own place and lower ones; the order, lowest first: $*" "$lines"
  bad=1
}

forbid "engine knows no file format and no text:" '(models|tokenizer)/' - engine
forbid "tokenizer knows no model, and of the engine its core:" '(engine|models)/' \
  'tokenizer/[^:]*: *# *include +"engine/core/' tokenizer
forbid "models know no text:" 'tokenizer/' - models
forbid "nothing includes tools:" 'tools/' - engine models tokenizer
forbid "oneDNN is engine/ops' alone:" 'dnnl' 'engine/ops/' engine models tokenizer tools
forbid "SentencePiece is one file's alone:" 'sentencepiece_processor' \
  'tokenizer/subwords/sentencepiece_model.cc:' engine models tokenizer tools
forbid "yaml-cpp is one file's alone:" 'yaml-cpp' 'models/files/yaml.cc:' engine models tokenizer tools
forbid "CLD2 is one file's alone:" 'cld2/' 'tokenizer/languages/language_scores.cc:' engine models tokenizer tools
forbid "ICU is the tokenizer's alone:" 'unicode/' 'tokenizer/' engine models tokenizer tools
forbid "Highway stays out of headers (but -inl.h):" 'hwy/' '[^:]*(\.cc|-inl\.h):' engine models tokenizer tools
forbid "tools/text is a library, without flags:" 'absl/flags' - tools/text
forbid "the C interface stands on the public C++ one:" '(engine|models|tokenizer|tools)/' \
  '[^:]*: *# *include +"tools/c/' tools/c
forbid "mechanisms of attention are known to those alone who choose one:" 'engine/attention/mixers/' \
  '(engine/attention/attention\.cc|engine/model/token_mixer\.cc|engine/attention/mixers/[^:]*):' \
  engine models tokenizer tools
forbid "within engine/attention, nothing lies above attention.h:" 'engine/attention/attention\.h' \
  'engine/(attention/attention\.(h|cc)|model/[^:]*):' engine
forbid "public headers include the standard library, Abseil and each other:" '' \
  '[^:]*: *# *include +(<[a-z0-9_]+(\.h)?>|"nibu/[a-z_]+\.h"|"absl/(status|strings|types)/[a-z_]+\.h")' \
  tools/text/nibu engine/nibu
if [ "$(find tools/text/nibu engine/nibu -name '*.h' -o -name '*.h.in' | wc -l)" -gt 16 ]; then
  echo "more than 16 public headers"
  bad=1
fi
programs='tools/cli/(nibu_translate|nibu_score|nibu_split|translate_lines|json_lines|tsv|run_lines|lines|output_format)\.(cc|h)'
lines=$(includes '(engine|models|tokenizer)/|tools/text/(marked|lines|model|translator)/' tools/cli |
  grep -E "^$programs:" | grep -vE '"(engine/core/|models/files/new_file\.h)' || true)
if [ -n "$lines" ]; then
  printf '%s\n%s\n' "nibu-translate, nibu-score and nibu-split use the public library, as every program does:" "$lines"
  bad=1
fi
lines=$(includes '(engine|models|tokenizer)/|tools/text/' tools/serve |
  grep -vE '"(engine/core/(errors|status_macros)|models/files/(json|new_file)|tokenizer/unicode/characters|tools/text/(options/option_(table|groups)|model/catalog))\.h"' || true)
if [ -n "$lines" ]; then
  printf '%s\n%s\n' "the server uses the public library, as every program does:" "$lines"
  bad=1
fi
lines=$(includes '(engine|models|tokenizer|tools/text)/' tools/python)
if [ -n "$lines" ]; then
  printf '%s\n%s\n' "the Python package uses the public library, as every program does:" "$lines"
  bad=1
fi
forbid "pybind11 is tools/python's alone:" 'pybind11/' 'tools/python/' engine models tokenizer tools
lines=$(includes 'boost/' engine models tokenizer tools |
  grep -vE '^tools/serve/http_(network|message)\.h:' || true)
if [ -n "$lines" ]; then
  printf '%s\n%s\n' "Boost takes long to compile, and stays in the files that speak HTTP:" "$lines"
  bad=1
fi
forbid "search knows no model: it includes engine/core alone:" 'engine/(ops|attention|model)/' - engine/search
order engine nibu core ops attention model,search request.h schedule .
order models files containers assembly vocabulary formats,native . writers
order tokenizer unicode subwords,sentences,languages
order tools text cli,c inspect,bench,serve,marian,python
order tools/text nibu options marked model lines translator .
exit "$bad"
