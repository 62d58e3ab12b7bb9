#!/usr/bin/env bash
# tools/dev/test_on.sh SUITE [PRESET]: the quickstart and every test on another Debian (bookworm, trixie),
# from nothing but its packages (and ccache), in a chroot. Needs root. The chroot and its compiler cache stay in the user's
# cache folder and are used again, until this script or setup.sh changes. NIBU_MIRROR: where Debian's packages
# come from.
set -euo pipefail

suite=${1:-}
preset=${2:-release}
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source-path=SCRIPTDIR source=chroot.sh
. "$source/tools/dev/chroot.sh"
begin_chroots "$suite"
chroot="$chroots/$suite"
make_chroot "$suite" "$chroot" "$source"/tools/{setup,dev/test_on}.sh

# The tree as it is, and shared/ beside it, which some tests look for. What was built before stays, but all sources are
# newer: they may be another clone's, which only the compiler cache can tell.
copy() {  # FROM TO
  mkdir -p "$2"
  find "$2" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
  tar -C "$1" --exclude=./build --exclude=./.git -c . | tar -C "$2" -x --touch --no-same-owner
}
copy "$source" "$chroot/nibu/nibu"
rm -rf "$chroot/nibu/shared"
[ ! -d "$source/../shared" ] || copy "$source/../shared" "$chroot/nibu/shared"

# shellcheck disable=SC2016  # the inner shell's variables
in_chroot "$suite" "$chroot" NIBU_WERROR="${NIBU_WERROR:-OFF}" NIBU_FUZZ_SEEDS="${NIBU_FUZZ_SEEDS:-OFF}" \
  bash -euo pipefail -c '
    cd /nibu/nibu
    said=$(tools/quickstart.sh "Where is the nearest train station?")
    [ "$said" = "Wo ist der nächste Bahnhof?" ] || { echo "the quickstart said: $said" >&2; exit 1; }
    tools/test.sh "$1"' - "$preset"
