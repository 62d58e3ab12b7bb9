#!/usr/bin/env bash
# tools/dev/count_lines.sh [COMMIT]: the lines of C++ in engine, models, tokenizer and tools, without
# blank lines and lines that are comments alone; of the working tree, or of a commit. Assertions are
# counted apart.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
folders=(engine models tokenizer tools)

text() {  # FOLDER
  if [ $# -gt 1 ]; then
    git ls-tree -r --name-only "$2" -- "$1" | grep -E '\.(h|cc)$' |
      while read -r file; do git show "$2:$file"; echo; done
  else
    find "$1" -name '*.h' -o -name '*.cc' | sort | while read -r file; do cat "$file"; echo; done
  fi
}

all=0
asserted=0
printf '%-10s %8s %11s\n' folder lines assertions
for folder in "${folders[@]}"; do
  code=$(text "$folder" "$@" | grep -vE '^[[:space:]]*(//|$)')
  assertions=$(grep -cE '^[[:space:]]*ABSL_ASSERT\(' <<<"$code" || true)
  lines=$(($(wc -l <<<"$code") - assertions))
  printf '%-10s %8d %11d\n' "$folder" "$lines" "$assertions"
  all=$((all + lines))
  asserted=$((asserted + assertions))
done
printf '%-10s %8d %11d\n' all "$all" "$asserted"
