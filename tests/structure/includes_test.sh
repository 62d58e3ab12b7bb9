#!/usr/bin/env bash
# The tree passes includes.sh, and a tree with each kind of offence does not.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
bash "$here/includes.sh" "$here/../.."

# All offences stand in one tree, since a run takes a while; each of them has to be named.
tree=$(mktemp -d)
trap 'rm -r "$tree"' EXIT
mkdir -p "$tree"/{engine,models,tokenizer,tools/text/nibu,tools/c,tools/cli,tools/serve,tools/python,engine/nibu,engine/search}
offences=()
offend() {  # FILE INCLUDE
  mkdir -p "$tree/$(dirname "$1")"
  echo "#include $2" >>"$tree/$1"
  offences+=("$1:#include $2")
}
offend tools/c/a.cc '"tools/text/options/option_table.h"'
offend engine/a.cc '"models/load_model.h"'
offend engine/ops/a.h '"tokenizer/subwords/tokenizer.h"'
offend tokenizer/a.cc '"engine/translator.h"'
offend tokenizer/a.cc '"engine/ops/linear.h"'
offend tokenizer/a.cc '"models/files/json.h"'
offend models/a.cc '"tokenizer/subwords/vocabulary.h"'
offend models/a.h '"tools/cli/flags.h"'
offend models/a.cc '<dnnl.hpp>'
offend tokenizer/a.cc '<sentencepiece_processor.h>'
offend tokenizer/languages/a.cc '<cld2/public/compact_lang_det.h>'
offend tools/a.cc '<unicode/uchar.h>'
offend engine/a.h '"hwy/highway.h"'
offend models/formats/a.cc '<yaml-cpp/yaml.h>'
offend engine/core/a.h '"engine/ops/linear.h"'
offend engine/ops/a.cc '"engine/model/config.h"'
offend engine/attention/a.h '"engine/model/kv_cache.h"'
offend engine/search/a.cc '"engine/ops/linear.h"'
offend engine/model/a.cc '"engine/search/beam_search.h"'
offend engine/model/a.h '"engine/translator.h"'
offend engine/new_folder/a.h '"engine/core/tensor.h"'
offend models/files/a.h '"models/containers/npz.h"'
offend models/containers/a.h '"models/assembly/build_model.h"'
offend models/formats/a.h '"models/native/native.h"'
offend models/native/a.h '"models/formats/marian.h"'
offend models/formats/a.cc '"models/load_model.h"'
offend tools/text/a.h '"tools/cli/flags.h"'
offend tools/text/options/a.h '"tools/text/marked/marked_text.h"'
offend tools/text/marked/a.cc '"tools/text/model/text_coder.h"'
offend tools/text/model/a.cc '"tools/text/lines/line_plan.h"'
offend tools/text/a.cc '"absl/flags/flag.h"'
offend tools/text/a.cc '"tools/bench/bench_run.h"'
offend tools/cli/a.cc '"tools/bench/bench_run.h"'
offend tools/cli/a.h '"tools/inspect/inspect.h"'
offend tools/bench/a.cc '"tools/inspect/inspect.h"'
offend tools/a.cc '"tools/cli/flags.h"'
offend tokenizer/unicode/a.h '"tokenizer/subwords/vocabulary.h"'
offend tokenizer/subwords/a.cc '"tokenizer/sentences/sentence_splitter.h"'
offend tokenizer/sentences/a.h '"tokenizer/subwords/tokenizer.h"'
offend tokenizer/languages/a.h '"tokenizer/sentences/sentence_splitter.h"'
offend engine/search/a.h '"engine/request.h"'
offend engine/request.h '"engine/schedule/job_queue.h"'
offend engine/schedule/a.cc '"engine/translator.h"'
offend engine/attention/kernels.cc '"engine/attention/mixers/lsh.h"'
offend engine/attention/attention.h '"engine/attention/mixers/lsh.h"'
offend engine/attention/mixers/lsh.h '"engine/attention/attention.h"'
offend models/load_model.cc '"models/writers/native_writer.h"'
offend tools/text/nibu/a.h '"tools/text/model/model_parts.h"'
offend tools/python/a.cc '"tools/text/model/model_parts.h"'
offend tools/text/a.cc '<pybind11/pybind11.h>'
offend tools/text/nibu/a.h '"absl/container/flat_hash_map.h"'
offend engine/nibu/a.h '"engine/core/tensor.h"'
offend tools/text/nibu/a.h '<nlohmann/json.hpp>'
if bash "$here/includes.sh" "$tree" >"$tree/said"; then
  echo "a tree with offences passes" >&2
  exit 1
fi
for offence in "${offences[@]}"; do
  grep -qF -- "$offence" "$tree/said" || { echo "not noticed: $offence" >&2; exit 1; }
done
echo "includes keep to the borders"
