#!/usr/bin/env bash
# mail.sh IN OUT [nibu-translate flags]: a mail of plain text. Its body is wrapped again, in UTF-8; its header stays but
# for what says so.
# shellcheck disable=SC1091,SC2154 # common.sh sets in, out, recipes, nibu, tmp
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need python3 python3
python3 "$recipes/mail.py" "$in" "$tmp/out" "$nibu" --text=paragraphs --wrap=72 "$@"
cp "$tmp/out" "$out"
