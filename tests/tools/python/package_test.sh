#!/usr/bin/env bash
# package_test.sh PYTHON BUILD: installs the Python package with pip into a virtual environment, without a network,
# and translates there. BUILD: a build folder, in which the extension module is there already.
set -euo pipefail
python=$1 build=$2
source=$(cd "$(dirname "$0")/../../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$python" -m venv "$scratch/venv" >"$scratch/log" 2>&1 ||
  { cat "$scratch/log"; echo "skipped: python3-venv or python3-pip is missing"; exit 77; }
venv=$scratch/venv/bin
"$venv/pip" install --quiet --no-index --no-build-isolation --disable-pip-version-check \
  --config-settings=build-dir="$build" "$source/tools/python"
cd "$scratch"
said=$("$venv/python" -c '
import nibu
assert nibu.__file__.startswith("'"$scratch"'/venv/"), nibu.__file__
translator = nibu.Translator(compute_type="float32")
assert translator.model.info["path"].startswith("'"$scratch"'/venv/"), translator.model.info["path"]
print(translator.translate("My name is Peter Miller and I live in Berlin."))')
[ "$said" = "Mein Name ist Peter Miller und ich lebe in Berlin." ] || { echo "it said: $said"; exit 1; }
[[ $("$venv/pip" show --files nibu) == *nibu/py.typed* ]] || { echo "py.typed is missing"; exit 1; }
# The same build makes the same wheel.
for n in 1 2; do
  "$venv/pip" wheel --quiet --no-index --no-build-isolation --disable-pip-version-check --no-deps \
    --config-settings=build-dir="$build" --wheel-dir "$scratch/$n" "$source/tools/python"
done
cmp "$scratch"/1/*.whl "$scratch"/2/*.whl
# What there is to compile is said on the terminal, from which pip hides the build.
mkdir "$scratch/ninja"
cat >"$scratch/ninja/build.ninja" <<'END'
rule cc
  command = c++ -o $out -c $in
build a.o: cc a.cc
build nibu_python: phony a.o
END
said=$("$python" -c 'import pty, sys; pty.spawn(sys.argv[1:])' "$python" -B -c '
import pathlib, sys
sys.path.insert(0, sys.argv[1])
import build_backend
build_backend._say_what_compiles(pathlib.Path(sys.argv[2]))' "$source/tools/python" "$scratch/ninja")
[[ $said == *"compiling 1 C++ files"* ]] || { echo "on the terminal stood: $said"; exit 1; }
# A build that fails is reported with a line that says what to do.
mkdir "$scratch/empty"
echo 'cmake_minimum_required(VERSION 3.25)' >"$scratch/empty/CMakeLists.txt"
if "$venv/pip" install --quiet --no-index --no-build-isolation --disable-pip-version-check \
  --config-settings=build-dir="$scratch/empty/CMakeLists.txt/none" "$source/tools/python" >"$scratch/log" 2>&1; then
  echo "a build folder that cannot be was taken"
  exit 1
fi
grep -q 'tools/setup.sh python installs what the build needs' "$scratch/log" ||
  { cat "$scratch/log"; echo "the error does not say what to do"; exit 1; }
