#!/usr/bin/env bash
# The tree passes includes.sh, and a tree with each kind of offence does not.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
bash "$here/includes.sh" "$here/../.."

offend() {  # FILE INCLUDE
  local tree
  tree=$(mktemp -d)
  mkdir -p "$tree"/{engine/ops,models,tokenizer,tools}
  mkdir -p "$tree/$(dirname "$1")"
  echo "#include $2" >"$tree/$1"
  if bash "$here/includes.sh" "$tree" >/dev/null; then
    echo "not noticed: $1 includes $2" >&2
    exit 1
  fi
  rm -r "$tree"
}
offend engine/a.cc '"models/load_model.h"'
offend engine/ops/a.h '"tokenizer/tokenizer.h"'
offend tokenizer/a.cc '"engine/translator.h"'
offend models/a.cc '"tokenizer/vocabulary.h"'
offend models/a.h '"tools/flags.h"'
offend models/a.cc '<dnnl.hpp>'
offend tokenizer/a.cc '<sentencepiece_processor.h>'
offend tools/a.cc '<unicode/uchar.h>'
offend engine/a.h '"hwy/highway.h"'
echo "includes keep to the borders"
