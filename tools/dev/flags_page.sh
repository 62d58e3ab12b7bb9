#!/usr/bin/env bash
# flags_page.sh BIN: prints the page of all flags, tools/cli/FLAGS.md, as the programs in the folder BIN tell them.
set -euo pipefail
bin=$1
programs=(translate score split convert inspect "inspect attention" "inspect convolution" bench "bench attention" "bench bleu" serve marian "marian score")
cat <<'END'
# Flags

<!-- Made by: tools/dev/flags_page.sh build/release/bin > tools/cli/FLAGS.md. Do not edit: change the rows of the table of
options, which "How to add one more" in README.md names. -->

These are all flags of all programs, as `--help=all` tells them. [README.md](README.md) describes the command lines, the
files and the formats of output. A flag is given as `--name=value` or `--name value`; `--name` sets a Boolean, and
`--noname` unsets it. Defaults that a model's files state take the place of those here. Flags of `nibu-marian` are written as
Marian's are ([README](../marian/README.md)).

END
for program in "${programs[@]}"; do
  printf -- '* [nibu-%s](#nibu-%s)\n' "$program" "${program// /-}"
done
for program in "${programs[@]}"; do
  read -ra words <<<"$program"
  echo
  "$bin/nibu-${words[0]}" "${words[@]:1}" --help=markdown
done
