#!/usr/bin/env bash
# formulas_test.sh: each function or test that engine/FORMULAS.md names is in the file that the name links to.
set -euo pipefail
cd "$(dirname "$0")/../.."
names=0
while IFS='|' read -r name file; do
  [ -e "engine/$file" ] || { echo "engine/FORMULAS.md links to $file, which is not there" >&2; exit 1; }
  grep -qE "(^|[^A-Za-z])${name##*::}\\(|, ${name##*::}\\)" "engine/$file" ||
    { echo "engine/FORMULAS.md names $name, which is not in $file" >&2; exit 1; }
  names=$((names + 1))
done < <(grep -oE '\[`[A-Za-z:]+`\]\([^)]+\)' engine/FORMULAS.md | sed -E 's/^\[`(.*)`\]\((.*)\)$/\1|\2/')
[ "$names" -gt 50 ] || { echo "engine/FORMULAS.md names only $names functions" >&2; exit 1; }
