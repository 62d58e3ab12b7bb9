#!/usr/bin/env bash
# types_test.sh PYTHON PACKAGES: checks the types of the Python package, those of a program that uses it, and that the
# stubs of the extension module say what is there. PACKAGES: the folder in which the package lies.
set -euo pipefail
python=$1 packages=$2
source=$(cd "$(dirname "$0")/../../.." && pwd)
"$python" -c 'import mypy, numpy' 2>/dev/null || { echo "skipped: mypy or NumPy is missing"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export MYPYPATH=$packages
flags=(--strict --no-error-summary --cache-dir "$scratch/cache")
# Versions before 1.7 check keyword arguments by their names only if they are told to.
"$python" -c 'import sys; from mypy.version import __version__ as v; sys.exit(int(v.split(".")[1]) > 6 or v[0] != "1")' &&
  unpack=Unpack flags+=(--enable-incomplete-feature=Unpack)
printf '[mypy]\n%s\n' "${unpack:+enable_incomplete_feature = Unpack}" >"$scratch/mypy.ini"
"$python" -m mypy "${flags[@]}" -p nibu
cat >"$scratch/good.py" <<'EOF'
import asyncio
import nibu

translator = nibu.Translator("model", threads=2, compute_type="int8", beam_size=1)
one: nibu.Result = translator.translate("text", beam_size=2, markup="html")
many: list[nibu.Result] = translator.translate(["text", "text"], target_prefix=["a", None])
score: float = translator.score("a", "b").score


async def main() -> str:
    return (await translator.submit("text")).text


asyncio.run(main())
EOF
"$python" -m mypy "${flags[@]}" "$scratch/good.py"
cat >"$scratch/bad.py" <<'EOF'
import nibu

translator = nibu.Translator("model")
translator.translate("text", beam_sise=2)
translator.translate("text", beam_size="many")
translator.translate("text", markup="rtf")
translator.translate(3)
nibu.Model("model", compute_typ="int8")
EOF
"$python" -m mypy "${flags[@]}" "$scratch/bad.py" >"$scratch/errors" || true
for line in 4 5 6 7 8; do
  grep -q "bad.py:$line: error:" "$scratch/errors" ||
    { echo "line $line of this is not refused:"; cat "$scratch/bad.py" "$scratch/errors"; exit 1; }
done
# pybind11's classes have a metaclass of their own, and those that Python does not make an __init__ that refuses.
echo 'nibu\._nibu\.[A-Za-z]+(\.__init__)?' >"$scratch/allowed"
PYTHONPATH=$packages "$python" -m mypy.stubtest nibu._nibu --ignore-missing-stub --ignore-unused-allowlist --mypy-config-file "$scratch/mypy.ini" \
  --allowlist "$scratch/allowed" >"$scratch/stubs" 2>&1 || { cat "$scratch/stubs"; exit 1; }
