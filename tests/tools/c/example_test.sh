#!/usr/bin/env bash
# example_test.sh MODULE LIBRARY ROOT CAPTIONS_MODEL: tools/c/example_MODULE.py translates with libnibu.so, and
# says why it cannot. 77 (skipped) without Python or the module.
set -euo pipefail
module=$1 library=$2 root=$3 captions_model=$4
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
python3 -c "import $module" 2>/dev/null || { echo "skipped: python3 has no $module"; exit 77; }

run() { python3 -B "$root/tools/c/example_$module.py" "$library" "$1" "$2" "$root/tools/text/nibu/c.h" 2>&1; }
said=$(run "$captions_model" "A man is riding a bicycle.")
[ "$said" = "Ein Mann fährt Fahrrad." ] || { echo "example_$module.py said: $said" >&2; exit 1; }
! said=$(run /no/such/model x) || { echo "example_$module.py loads what is not there" >&2; exit 1; }
[[ $said == "/no/such/model: no such file"* ]] || { echo "example_$module.py said of an error: $said" >&2; exit 1; }
