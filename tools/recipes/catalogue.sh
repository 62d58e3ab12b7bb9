#!/usr/bin/env bash
# catalogue.sh IN OUT [--mark_fuzzy] [nibu-translate flags]: catalogues of messages: po, Qt's ts, XLIFF, TMX, .strings,
# .properties, JSON, ARB, PHP, .resx.
# shellcheck disable=SC1091,SC2154 # common.sh sets in, out, recipes, nibu
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
python=
# A python3 that is not Debian's does not have Debian's modules.
for one in $(type -ap python3); do
  if "$one" -c "import lxml, translate.storage.pypo" 2>/dev/null; then python=$one && break; fi
done
[ -n "$python" ] || fail "there is no translate-toolkit; apt-get install translate-toolkit"
[[ ! $in =~ \.pot?$ ]] || need msgfmt gettext
"$python" -B "$recipes/catalogue" "$in" "$out" "$nibu" "$@"
