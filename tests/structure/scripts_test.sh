#!/usr/bin/env bash
# What a newcomer reads of tools/test.sh and tools/quickstart.sh, in a tree where cmake and ctest only say what they would.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$1" >&2; cat "$work/out" "$work/err" >&2; exit 1; }
tree="$work/tree"
mkdir -p "$tree/tools/dev" "$work/bin" "$tree/build/release/Testing/Temporary"
cp "$root/tools/test.sh" "$root/tools/quickstart.sh" "$tree/tools/"
cp "$root/tools/dev/skipped.sh" "$tree/tools/dev/"
printf '#!/bin/sh\n' >"$tree/tools/setup.sh"
echo "NIBU_SANITIZE:STRING=" >"$tree/build/release/CMakeCache.txt"
# The build says 60 steps and makes a program that says its arguments.
cat >"$work/bin/cmake" <<'END'
#!/bin/sh
[ "$1" = --build ] || exit 0
for step in $(seq 60); do echo "[$step/60] Building CXX object $step.o"; done
[ ! -e "$FAILS" ] || exit 1
mkdir -p "$2/bin"
printf '#!/bin/sh\necho "$@"\n' >"$2/bin/nibu-translate"
chmod +x "$2/bin/nibu-translate"
END
# 40 of 60 tests are skipped, for 30 reasons and for one that is there 351 times.
cat >"$work/bin/ctest" <<'END'
#!/bin/sh
log=build/release/Testing/Temporary/LastTest.log
for n in $(seq 351); do printf 'tests/contracts.h:17: Skipped\nno assertions here\n'; done >"$log"
for n in $(seq 30); do echo "skipped: there is no program$n (apt-get install program$n)"; done >>"$log"
printf '100%% tests passed, 0 tests failed out of 60\n\nTotal Test time (real) =   1.00 sec\n\n'
echo 'The following tests did not run:'
for n in $(seq 40); do printf '\t%3d - test_%d (Skipped)\n' "$n" "$n"; done
[ ! -e "$FAILS" ]
END
chmod +x "$work"/bin/* "$tree"/tools/*.sh "$tree"/tools/dev/*.sh
export PATH="$work/bin:$PATH" FAILS="$work/fails"

"$tree/tools/test.sh" >"$work/out" 2>"$work/err" || fail "test.sh should pass"
sed -n '/tests passed/,$p' "$work/out" >"$work/last"
[ "$(wc -l <"$work/last")" -le 15 ] || fail "test.sh ends in $(wc -l <"$work/last") lines"
for words in "tests passed" "351 x no assertions here" "Skipped 381, for 31 reasons" "tools/setup.sh ci installs"; do
  grep -q "$words" "$work/last" || fail "test.sh should end with $words"
done

rm -r "$tree/build/release/bin"
"$tree/tools/quickstart.sh" "A dog" >"$work/out" 2>"$work/err" || fail "quickstart.sh should pass"
[ "$(cat "$work/out")" = "A dog" ] || fail "the translation alone belongs to standard output"
for words in "the log is $tree/build/release/quickstart.log" "step 60 of 60" translating "try next: "; do
  grep -q "$words" "$work/err" || fail "quickstart.sh should say $words"
done
[ "$(wc -l <"$work/err")" -le 15 ] || fail "quickstart.sh says more than 15 lines"
[ "$(grep -c Building "$tree/build/release/quickstart.log")" = 60 ] || fail "the log should have all"
"$tree/tools/quickstart.sh" "A dog" >"$work/out" 2>"$work/err"
[ ! -s "$work/err" ] || fail "where all is built, quickstart.sh only translates"

touch "$FAILS"
! "$tree/tools/test.sh" >"$work/out" 2>"$work/err" || fail "test.sh should fail with ctest"
! "$tree/tools/quickstart.sh" "A dog" >"$work/out" 2>"$work/err" || fail "quickstart.sh should fail with the build"
grep -q "error: the build failed" "$work/err" || fail "quickstart.sh should say that the build failed"
