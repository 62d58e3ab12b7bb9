#!/usr/bin/env bash
# python_test.sh FILE ...: runs a Python test with its arguments; 77 (skipped) without Python.
set -euo pipefail
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
exec python3 -B "$@"
