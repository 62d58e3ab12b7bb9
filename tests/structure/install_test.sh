#!/usr/bin/env bash
# install_test.sh BUILD: installs, moves the installed tree, and uses it as a stranger would: runs programs from
# there, and builds and runs library_example with the shared and the static library, by find_package and by
# pkg-config, and with the sources as a part of its own (add_subdirectory).
set -euo pipefail
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$*" >&2; exit 1; }

cmake --install "$build" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/moved here"
prefix="$work/moved here"
library=$(find "$prefix" -name libnibu.so)
libraries=$(dirname "$library")
model="$prefix/share/nibu/models/en-de"

# Not every model for these languages would say that.
english="My name is Peter Miller and I live in Berlin."
german="Mein Name ist Peter Miller und ich lebe in Berlin."

said=$("$prefix/bin/nibu-translate" --compute_type=float32 "$english")
[ "$said" = "$german" ] || fail "installed nibu-translate said: $said"
[[ $("$prefix/bin/nibu-get-model" --help) == "Usage: nibu-get-model MODEL"* ]] || fail "nibu-get-model --help"
said=$(HOME="$work" "$prefix/bin/nibu-translate" --model=opus-mt-en-fr x 2>&1 || true)
[[ $said == *"; nibu-get-model opus-mt-en-fr fetches it" ]] || fail "installed nibu-translate said of a model: $said"
mkdir -p "$work/.local/share/nibu/models"
ln -s "$model" "$work/.local/share/nibu/models/by-name"
said=$(unset NIBU_MODELS XDG_DATA_HOME; HOME="$work" "$prefix/bin/nibu-translate" --model=by-name --compute_type=float32 \
  "$english")
[ "$said" = "$german" ] || fail "installed nibu-translate said of a model by name: $said"
python=$(sed -n 's/^Python3_EXECUTABLE:FILEPATH=//p' "$build/CMakeCache.txt")
if [ -d "$prefix/lib/python3/dist-packages/nibu" ]; then
  said=$(cd "$work" && PYTHONPATH="$prefix/lib/python3/dist-packages" "$python" -B -c 'import importlib.metadata, nibu, sys
assert importlib.metadata.version("nibu") == sys.argv[2]
print(nibu.Translator(compute_type="float32").translate(sys.argv[1]))' "$english" "$(PKG_CONFIG_PATH="$libraries/pkgconfig" pkg-config --modversion nibu)")
  [ "$said" = "$german" ] || fail "the installed Python package said: $said"
else
  echo "not installed: the Python package, since there is no pybind11"
fi
! readelf -d "$prefix/bin/nibu-split" | grep -E 'dnnl|gomp' || fail "nibu-split loads libraries that it does not use"
for file in man/man1/nibu-translate.1 bash-completion/completions/nibu-bench zsh/site-functions/_nibu-inspect; do
  [ -s "$prefix/share/$file" ] || fail "there is no share/$file"
done
bash "$here/documents_test.sh" "$prefix" "$library"

# The interface: the public headers, each complete in itself, and what they declare.
[ "$(ls "$prefix/include")" = nibu ] || fail "installed headers: $(ls "$prefix/include")"
for header in "$prefix"/include/nibu/*; do
  echo "#include \"nibu/$(basename "$header")\"" |
    c++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only -x c++ "-I$prefix/include" - ||
    fail "$header does not stand alone"
done
echo '#include "nibu/c.h"' |
  cc -std=c89 -pedantic -Wall -Wextra -Werror -fsyntax-only -x c "-I$prefix/include" - ||
  fail "nibu/c.h is no C89"
# Undefined symbols and names of versions aside, names begin with nibu:: or nibu_.
exported=$(nm -DC --defined-only "$library" | grep -v ' A NIBU_' | cut -d' ' -f3- | sed 's/@@.*//')
! grep -vE '^(nibu::|nibu_)' <<<"$exported" || fail "libnibu.so exports more than its interface"
! grep '^nibu::internal' <<<"$exported" || fail "libnibu.so exports what is internal"
grep -q '^nibu::Translator::Submit' <<<"$exported" || fail "libnibu.so does not export its interface"
# Programs load the library by the version of the C interface; C++ ones need that of the C++ interface, too.
loaded=$(readelf -d "$library")
[[ $loaded == *"soname: [libnibu.so.1]"* ]] || fail "the library has another soname: $loaded"
symbols=$(nm -D --defined-only "$library")
for symbol in nibu_translate@@NIBU_C_1 _ZN4nibu7VersionEv@@NIBU_CXX_0.1; do
  [[ $symbols == *" $symbol"* ]] || fail "libnibu.so does not export $symbol"
done
# The library exports the functions in C that c.h declares, and no others.
sed -nzE 's/NIBU_EXPORT [^;(]*(nibu_[a-z_]+)\([^;]*;/\n@\1\n/gp' "$prefix/include/nibu/c.h" | tr -d '\0' | sed -n 's/^@//p' |
  sort | diff - <(grep '^nibu_' <<<"$exported" | sort) || fail "libnibu.so does not export what nibu/c.h declares"
! grep -q "$source" "$library" || fail "libnibu.so names the folder that it was built from"

# build FOLDER: builds what is configured there, and says what failed.
build() {
  local said
  said=$(cmake --build "$1" 2>&1) || { grep -vE '^\[[0-9]+/[0-9]+\]' <<<"$said" >&2; fail "$1 does not build"; }
}
# build_example NAME ARGUMENT...: configures, builds and runs library_example.
build_example() {
  local folder="$work/$1"
  shift
  # With the address sanitizer, which sees what the program and the library do with each other's memory.
  cmake -S "$here/../library_example" -B "$folder" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS=-fsanitize=address --no-warn-unused-cli "$@" >/dev/null
  build "$folder"
  "$folder/library_example" "$model"
}
# The shared library needs Abseil alone.
build_example shared -DCMAKE_DISABLE_FIND_PACKAGE_{dnnl,ICU,ZLIB,yaml-cpp,PkgConfig}=ON
build_example static -DLIBRARY=nibu_static
# A project that can do without the static library is configured where one of its parts is missing.
mkdir "$work/optional"
cat >"$work/optional/CMakeLists.txt" <<'EOF'
cmake_minimum_required(VERSION 3.18)
project(optional CXX)
find_package(nibu QUIET OPTIONAL_COMPONENTS static)
message("nibu ${nibu_FOUND}, static ${nibu_static_FOUND}")
EOF
cmake -S "$work/optional" -B "$work/optional/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_DISABLE_FIND_PACKAGE_dnnl=ON 2>&1 |
  grep -xiE 'nibu (1|TRUE), static FALSE' || fail "an optional static library without dnnl is found, or an error"
# A component that does not exist, or that a package has left out, is named with those that there are.
no_component() {  # COMPONENT THOSE
  sed -i "s/find_package.*/find_package(nibu QUIET COMPONENTS $1)/; s/^message.*/message(\"\${nibu_FOUND}: \${nibu_NOT_FOUND_MESSAGE}\")/" \
    "$work/optional/CMakeLists.txt"
  said=$(cmake -S "$work/optional" -B "$work/optional/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" 2>&1)
  grep -qE "^(0|FALSE): nibu has no component $1 here; it has: $2\." <<<"$said" ||
    fail "find_package said of component $1: $said"
}
no_component foo "shared, static"
static_targets=$(find "$prefix" -name nibu-static-targets.cmake)
mv "$static_targets" "$work/"
no_component static shared
mv "$work/nibu-static-targets.cmake" "$static_targets"
! readelf -d "$work/static/library_example" | grep libnibu || fail "the static library is not linked"

export PKG_CONFIG_PATH="$libraries/pkgconfig"
# The prefix has a blank, which pkg-config writes as the shell reads it.
flags() { eval "result=($(pkg-config "$@" nibu))"; }
flags --cflags --libs
examples="$prefix/share/doc/nibu/tests/library_example"
c++ -std=c++17 -Wall -Wextra -Werror -o "$work/cpp_example" "$examples/translate.cc" "${result[@]}" "-Wl,-rpath,$libraries"
gcc -std=c89 -pedantic -Wall -Wextra -Werror -o "$work/c_example" "$examples/translate.c" "${result[@]}" \
  "-Wl,-rpath,$libraries"
for example in cpp_example c_example; do
  said=$("$work/$example" "$model" "$english")
  [[ $said == *Peter*Berlin* ]] || fail "$example said: $said"
  ! said=$("$work/$example" /no/such/model x 2>&1) || fail "$example loads what is not there"
  [[ $said == "translate: /no/such/model: no such file"* ]] || fail "$example said of an error: $said"
done
# A program in C, which needs no C++ compiler: the one that nibu/c.h begins with.
{ sed -n '/^     #include <stdio.h>/,/^     }$/s/^     //p' "$prefix/include/nibu/c.h" |
  sed 's|"models/en-de"|getenv("MODEL")|; 1i #include <stdlib.h>'; } >"$work/example.c"
gcc -std=c89 -pedantic -Wall -Wextra -Werror -o "$work/c_program" "$work/example.c" "${result[@]}" "-Wl,-rpath,$libraries"
said=$(MODEL="$model" "$work/c_program")
[ "$(wc -l <<<"$said")" -eq 2 ] || fail "the program of nibu/c.h said: $said"
flags --static --cflags --libs
c++ -std=c++17 -o "$work/by_pkg_config_static" "$here/../library_example/main.cc" \
  "${result[@]/#-lnibu/-l:libnibu.a}"
"$work/by_pkg_config_static" "$model"

# The sources can be a part of another project. It takes minutes to compile, unless a compiler cache has the objects of
# this build: with the same options, and from a folder beside it.
subproject="$build-subproject"
options=$(sed -n 's/^NIBU_WERROR:BOOL=ON$/-Werror/p' "$build/CMakeCache.txt")
cmake -S "$here/../library_example" -B "$subproject" -G Ninja -DNIBU="$source" -DLIBRARY=nibu_static \
  -DCMAKE_BUILD_TYPE="$(sed -n 's/^CMAKE_BUILD_TYPE:[A-Z]*=//p' "$build/CMakeCache.txt")" \
  -DCMAKE_CXX_COMPILER_LAUNCHER="$(command -v ccache || true)" \
  -DOPTIONS="-Wall;-Wextra;-Wshadow;-Wno-unused-parameter;-Wno-restrict;$options" >/dev/null
if [ -n "${CCACHE_BASEDIR:-}" ] && command -v ccache >/dev/null; then
  build "$subproject"
  "$subproject/library_example" "$model"
else
  echo "not compiled as a part of another project: there is no compiler cache"
fi
echo "installed, moved and linked"
