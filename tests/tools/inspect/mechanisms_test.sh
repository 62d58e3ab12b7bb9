#!/usr/bin/env bash
# mechanisms_test.sh NIBU_INSPECT SOURCE_FOLDER CAPTIONS_MODEL: compares every attention mechanism with NumPy
# (tests/reference/mechanisms.py), and self-attention as a convolution (convolution.py). 77 (skipped) without NumPy.
set -euo pipefail
inspect=$1
source=$2
captions_model=$3
python=$(command -v python3) || { echo "skipped: there is no python3"; exit 77; }
# Debian's own Python has NumPy where another one comes first in the path.
for candidate in "$python" /usr/bin/python3; do
  if "$candidate" -c 'import numpy' 2>/dev/null; then python=$candidate; break; fi
done
"$python" -c 'import numpy' 2>/dev/null || { echo "skipped: there is no python3-numpy"; exit 77; }
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

compare() {  # MODEL TEXT
  "$python" -B "$source/tests/reference/mechanisms.py" "$inspect" "$@"
}
compare "$captions_model" \
  "Two young girls in blue dresses and a man with a big hat are standing in front of an old house."
# Each layer of these models has another mechanism.
for model in mixers cross; do
  for text in "a cat" "the cat sat on a mat" "the ape sat and a dog"; do
    compare "$source/tests/testdata/$model" "$text" 3e-3  # These models magnify the rounding of float32.
  done
done
"$python" -B "$source/tests/reference/convolution.py" "$inspect"
# The comparison itself can fail.
if compare "$source/tests/testdata/cross" "the cat sat on a mat" 1e-12 >/dev/null; then
  echo "a difference above the largest allowed one was not noticed"
  exit 1
fi
