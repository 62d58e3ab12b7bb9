#!/usr/bin/env bash
# wheel_test.sh SUITE: makes the wheel of the packages in build/packages/SUITE, and uses it in an empty virtual environment
# of a chroot that has Python and neither compiler nor nibu's libraries. Needs root and the network.
set -euo pipefail
suite=$1
root=$(cd "$(dirname "$0")/../../.." && pwd)
"$root/tools/packaging/wheel" "$suite"
wheel=$(ls "$root/build/wheels/$suite"/*.whl)
"$root/tools/packaging/wheel" "$suite" "$root/build/wheels/$suite-again" >/dev/null
cmp "$wheel" "$root/build/wheels/$suite-again/${wheel##*/}"

# shellcheck source-path=SCRIPTDIR source=../../../tools/dev/chroot.sh
. "$root/tools/dev/chroot.sh"
begin_chroots "$suite"
make_chroot "$suite" "$chroots/$suite-clean"
chroot=$(mktemp -d "$chroots/$suite-XXXXXX")
trap 'rm -rf --one-file-system "$chroot"' EXIT
cp -a "$chroots/$suite-clean/." "$chroot"
cp "$wheel" "$chroot/tmp/"

# shellcheck disable=SC2016  # the inner shell's variables
in_chroot "$suite" "$chroot" DEBIAN_FRONTEND=noninteractive bash -euo pipefail -c '
  fail() { echo "wheel_test.sh: $*" >&2; exit 1; }
  english="Where is the nearest train station?" german="Wo ist der nächste Bahnhof?"
  expect() { [ "$2" = "$german" ] || fail "$1 said: $2"; }
  cd /tmp
  { apt-get update && apt-get install -y --no-install-recommends python3-venv; } >apt.log 2>&1 || { cat apt.log >&2; fail "no Python"; }
  ! command -v gcc c++ || fail "there is a compiler"
  ! ldconfig -p | grep -E "dnnl|sentencepiece|absl" || fail "there are libraries of nibu"
  python3 -m venv venv
  venv/bin/pip install --no-index *.whl >pip.log 2>&1 || { cat pip.log >&2; fail "pip does not install the wheel"; }
  expect Python "$(venv/bin/python -c "import nibu, sys; print(nibu.Translator().translate(sys.argv[1]))" "$english")"
  expect nibu-translate "$(venv/bin/nibu-translate "$english")"
  for program in venv/bin/nibu-*; do "$program" --help >/dev/null || fail "$program --help"; done
  [ "$(ls venv/bin/nibu-* | wc -l)" -ge 10 ] || fail "the programs are $(ls venv/bin)"
  ! find venv -name "*.so*" -o -path "*/nibu/bin/*" ! -name nibu-get-model ! -name nibu-load | xargs ldd | grep "not found" ||
    fail "a library is missing"
  venv/bin/nibu-serve --port=0 >serve.log 2>&1 &
  server=$!
  for _ in $(seq 100); do
    address=$(grep -o "http://[0-9.:]*" serve.log | head -n 1) && break
    sleep 0.2
  done
  said=$(venv/bin/python -c "import json, sys, urllib.parse, urllib.request
data = urllib.parse.urlencode({\"q\": sys.argv[2], \"source\": \"en\", \"target\": \"de\"}).encode()
print(json.load(urllib.request.urlopen(sys.argv[1] + \"/translate\", data))[\"translatedText\"])" "$address" "$english")
  kill "$server"
  wait "$server" || fail "nibu-serve ended with an error: $(cat serve.log)"
  expect nibu-serve "$said"
' </dev/null
echo "$suite: ${wheel##*/} was installed and used"
