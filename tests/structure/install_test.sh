#!/usr/bin/env bash
# install_test.sh BUILD: installs, moves the installed tree, runs the program from there, and builds a
# program of somebody else's with find_package(nibu).
set -euo pipefail
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/moved here"
prefix="$work/moved here"

said=$("$prefix/bin/nibu-translate" --compute_type=float32 "A man is riding a bicycle.")
[ "$said" = "Ein Mann fährt Fahrrad." ] || { echo "installed nibu-translate said: $said"; exit 1; }

mkdir "$work/consumer"
cat >"$work/consumer/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 20)
find_package(nibu REQUIRED)
add_executable(consumer main.cc)
target_link_libraries(consumer PRIVATE nibu::tools)
END
cat >"$work/consumer/main.cc" <<'END'
#include <iostream>

#include "models/load_model.h"
#include "tools/text_translator.h"

int main(int argc, char** argv) {
  auto model = nibu::LoadModel(argv[1], nibu::ComputeType::kFloat32);
  if (!model.ok()) return 1;
  auto translator = nibu::TextTranslator::Create(*std::move(model), {});
  if (!translator.ok()) return 1;
  for (const auto& result : (*translator)->Translate({"Two dogs are playing in the snow."})) {
    std::cout << result.hypotheses[0].text << "\n";
  }
}
END
cmake -S "$work/consumer" -B "$work/consumer/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build "$work/consumer/build" >/dev/null
said=$("$work/consumer/build/consumer" "$prefix/share/nibu/models/en-de")
[ "$said" = "Zwei Hunde spielen im Schnee." ] || { echo "the consumer said: $said"; exit 1; }
echo "installed, moved and linked"
