#!/usr/bin/env bash
# .ci/run chooses its parts as it says: in a repository of its own, where the steps' scripts only say their names.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
command -v git >/dev/null || { echo "skipped: git is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME="$work/cache" GIT_CONFIG_GLOBAL=/dev/null
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.com
record="$XDG_CACHE_HOME/nibu/checks.log"
mkdir -p "$work"/tree/{.ci,tools/dev,tests/engine,tests/structure,tests/tools/packaging} "$(dirname "$record")"
cd "$work/tree"
# shellcheck disable=SC2046  # names; those of a hook's repository are not to be used
unset $(git rev-parse --local-env-vars)
git init -q .
cp "$root/.ci/run" .ci/
cp "$root/.gitignore" .
cp "$root/tests/engine/with_isa.sh" tests/engine/
echo true >tests/structure/includes.sh
for script in setup test dev/fuzz dev/lint dev/test_on; do
  printf '#!/bin/sh\necho %s "$@" with seeds $NIBU_FUZZ_SEEDS\n' "${script#dev/}" >"tools/$script.sh"
  chmod +x "tools/$script.sh"
done

for test in packages wheel container; do
  printf '#!/bin/sh\necho %s "$@"\n' "$test" >"tests/tools/packaging/${test}_test.sh"
  chmod +x "tests/tools/packaging/${test}_test.sh"
done

commit() { git add -A; git commit -q --allow-empty -m "$1"; git rev-parse HEAD; }
fail() { echo "$1" >&2; cat "$work/out" >&2; exit 1; }
# The parts in the order of the plan; which instruction sets there are depends on the machine.
expect_order() {
  .ci/run --plan >"$work/out"
  [ "$(sed -n 's/^\(debian13\|tsan\):.*/\1/p' "$work/out" | xargs)" = "$1" ] || fail "expected the order $1"
}
expect_line() { grep -qE -- "$1" "$work/out" || fail "expected a line with $1"; }
expect_status() {  # STATUS COMMAND...
  local status=0
  "${@:2}" >"$work/out" 2>&1 || status=$?
  [ "$status" -eq "$1" ] || fail "expected status $1 of ${*:2}"
}

# Without a record every part is the first one at some commit.
first=""
for number in 1 2 3 4 5; do
  commit "$number" >/dev/null
  first+=$(.ci/run --plan | sed -n 2p | cut -d: -f1)" "
done
one=$(git rev-parse HEAD)
for part in debian13 packages tsan; do
  [[ " $first" == *" $part "* ]] || fail "$part is never the first: $first"
done

# The longest wait comes first, but changed files come before that, and so does a commit that nobody knows.
printf '%s\n' "100 $one tsan 7" "200 $one debian13 7" "300 $one isa 1" "350 $one packages 7" >"$record"
expect_order "tsan debian13"
echo a >CMakeLists.txt
two=$(commit "changes what debian13 tests")
expect_order "debian13 tsan"
expect_line "debian13: 7 minutes; last passed ${one:0:7}, 0 runs ago, changed since"
printf '%s\n' "400 $two debian13 7" "500 0123456789abcdef tsan 7" >>"$record"
expect_order "tsan debian13"

# A whole run: everything, and then it is on record.
expect_status 0 .ci/run
for name in "setup ci" "test release -E" "test fuzz" "fuzz 5" "lint build/fuzz" "test_on trixie" "test tsan" \
  "packages trixie" "wheel bookworm" "container trixie" "test release -R .corpus_"; do
  expect_line "^$name"
done
expect_line "^test release -E .* with seeds ON$"  # the fuzz targets' seeds, which other builds leave out
! grep "NOT RUN" "$work/out" || fail "everything should have run"
for name in set-up sanitizers lint debian13 packages tsan corpus run; do
  grep -q " $two $name [0-9]" "$record" || fail "$name is not on record"
done

# A part that takes too long does not run, and the last lines say so.
sed -i 's/\[tsan\]=20/[tsan]=60/' .ci/run
two=$(commit "tsan takes an hour")
echo "$(date +%s) $two tsan 60" >>"$record"
expect_status 0 .ci/run
[ "$(tail -n 1 "$work/out")" = "NOT RUN: tsan (last passed ${two:0:7}, 0 runs ago; next in turn)" ] ||
  fail "the last line should say that tsan did not run"
expect_status 0 .ci/run
expect_line "^NOT RUN: tsan .*1 run ago; next in turn"

# A step that fails ends the run, and what did not run after it is said.
printf '#!/bin/sh\nexit 1\n' >tools/dev/fuzz.sh
commit "fuzz fails" >/dev/null
expect_status 1 .ci/run
expect_line "^fuzz .*FAILED"
expect_line "^NOT RUN: lint .*tsan.* \(after the failure\)"
printf '#!/bin/sh\necho fuzz "$@"\n' >tools/dev/fuzz.sh
commit "fuzz passes" >/dev/null
# A line of the record that is damaged counts for nothing.
echo "17 $two tsan x(" >>"$record"
expect_status 0 .ci/run --plan

# By name, without a budget; what fails ends the run, is said, and is not on record.
expect_status 0 .ci/run tsan format
expect_line "^test tsan"
expect_status 2 .ci/run nonsense
printf '#!/bin/sh\necho "NOT LINTED, no time left: a.cc"\nexit 3\n' >tools/dev/lint.sh
commit "lint has no time" >/dev/null
expect_status 0 .ci/run every
expect_line "^NOT RUN: lint of a.cc"
printf '#!/bin/sh\nexit 1\n' >tools/dev/test_on.sh
three=$(commit "debian13 fails")
expect_status 1 .ci/run debian13
expect_line "^debian13 .*FAILED"
! grep "$three" "$record" || fail "a failure is on record"
# A run of files that are not committed is not on record either.
echo b >CMakeLists.txt
expect_status 0 .ci/run tsan
expect_line "^Not recorded"
! grep "$three" "$record" || fail "uncommitted files are on record"
echo "the parts run in turn"
