#!/usr/bin/env bash
# abi_test.sh BUILD [renew]: fails when a function of nibu/c.h that tests/structure/nibu_c.abi knows is gone or has
# changed; new ones are welcome. With renew, writes that file anew. 77 (skipped) without abigail-tools.
#
# abidw reads a library of empty functions, made from the declarations in c.h. The real functions cannot differ from
# these: the compiler compares them, and install_test.sh compares what is declared with what libnibu.so exports.
# So there is nothing of C++ in the file, whose handles are names alone.
set -euo pipefail
build=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
reference="$root/tests/structure/nibu_c.abi"
for tool in gcc abidw abidiff; do
  command -v "$tool" >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$*" >&2; exit 1; }

# describe HEADER ABI: writes down the functions that a header declares.
describe() {
  sed -zE 's/NIBU_EXPORT ([^;]*);/NIBU_EXPORT \1 { __builtin_trap(); }/g' "$1" >"$work/functions.c"
  gcc -std=c11 -g -fPIC -shared -w "-I$root/tools/text" "-I$build/include" -o "$work/libfunctions.so" "$work/functions.c"
  abidw --no-show-locs --no-corpus-path --no-comp-dir-path --no-elf-needed --no-architecture --no-parameter-names \
    --out-file "$2" "$work/libfunctions.so"
  sed -i "s| path='[^']*'||" "$2"
}
header="$root/tools/text/nibu/c.h"
describe "$header" "$work/now.abi"
if [ "${2:-}" = renew ]; then
  cp "$work/now.abi" "$reference"
  exit 0
fi

is_kept() { abidiff --no-added-syms "$reference" "$1" >"$work/report"; }  # ABI
is_kept "$work/now.abi" || fail "$(cat "$work/report")
a function of nibu/c.h is gone or has changed, which breaks programs that were compiled with it; add another one"

# Changes that would break programs are noticed, and a new function is accepted.
edit() {  # SED
  sed -zE "$1" "$header" >"$work/edited.h"
  ! cmp -s "$header" "$work/edited.h" || fail "nothing to edit: $1"
  describe "$work/edited.h" "$work/edited.abi"
}
refuse() {  # WHAT SED
  edit "$2"
  ! is_kept "$work/edited.abi" || fail "not noticed: $1"
}
refuse "a function that is gone" 's/NIBU_EXPORT void nibu_cancel\([^;]*;//'
refuse "another type of a result" 's/float nibu_result_score/double nibu_result_score/'
refuse "another type of an argument" 's/int64_t priority/int32_t priority/'
refuse "one more argument" 's/void nibu_free\(void\* memory/&, size_t size/'
refuse "another callback" 's/(nibu_callback\)\(void\* user, )nibu_status status, /\1/'
refuse "another type of the status" 's/typedef int32_t nibu_status/typedef int64_t nibu_status/'
edit 's/NIBU_EXPORT void nibu_cancel/NIBU_EXPORT void nibu_new(void);\n&/'
is_kept "$work/edited.abi" || fail "a new function is not accepted: $(cat "$work/report")"
