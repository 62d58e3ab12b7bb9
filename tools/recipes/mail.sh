#!/usr/bin/env bash
# mail.sh IN OUT [nibu-translate flags]: the texts of a mail, plain and HTML. All else stays, byte for byte.
# shellcheck disable=SC1091,SC2154 # common.sh sets in, out, recipes, nibu, tmp
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need python3 python3
python3 "$recipes/mail.py" "$in" "$tmp/out" "$nibu" "$@"
cp "$tmp/out" "$out"
