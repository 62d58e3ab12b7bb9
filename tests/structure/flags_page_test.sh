#!/usr/bin/env bash
# flags_page_test.sh BIN: the page of flags says what the programs in the folder BIN say.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
if ! "$root/tools/dev/flags_page.sh" "$1" | diff -u "$root/tools/cli/FLAGS.md" -; then
  echo "tools/cli/FLAGS.md is not what the programs say; run tools/dev/flags_page.sh $1 > tools/cli/FLAGS.md" >&2
  exit 1
fi
