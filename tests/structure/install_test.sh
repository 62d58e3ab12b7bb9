#!/usr/bin/env bash
# install_test.sh BUILD: installs, moves the installed tree, runs the program from there, and builds and runs
# library_example with find_package(nibu).
set -euo pipefail
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/moved here"
prefix="$work/moved here"

said=$("$prefix/bin/nibu-translate" --compute_type=float32 "A man is riding a bicycle.")
[ "$said" = "Ein Mann fährt Fahrrad." ] || { echo "installed nibu-translate said: $said"; exit 1; }

here=$(cd "$(dirname "$0")" && pwd)
cmake -S "$here/../library_example" -B "$work/example" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build "$work/example" >/dev/null
"$work/example/library_example" "$prefix/share/nibu/models/en-de"
echo "installed, moved and linked"
