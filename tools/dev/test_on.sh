#!/usr/bin/env bash
# tools/dev/test_on.sh SUITE [PRESET]: the quickstart and every test on another Debian (bookworm, trixie),
# from nothing but its packages (and ccache), in a chroot. Needs root. The chroot and its compiler cache stay in the user's
# cache folder and are used again, until this script or setup.sh changes. NIBU_MIRROR: where Debian's packages
# come from.
set -euo pipefail

suite=${1:-}
preset=${2:-release}
[[ "$suite" =~ ^[a-z]+$ ]] || { echo "Usage: tools/dev/test_on.sh SUITE [PRESET]" >&2; exit 2; }
[ "$(id -u)" -eq 0 ] || { echo "test_on.sh: error: a chroot needs root; run it with sudo" >&2; exit 1; }
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cache="${XDG_CACHE_HOME:-$HOME/.cache}/nibu"
chroot="$cache/chroot/$suite"
"$source/tools/setup.sh" chroot

# One run at a time.
mkdir -p "$cache/chroot"
exec 9>"$cache/chroot/$suite.lock"
flock 9

made_by=$(cat "$source"/tools/{setup,dev/test_on}.sh | sha256sum)
if [ "$(cat "$chroot/made_by" 2>/dev/null)" != "$made_by" ]; then
  rm -rf --one-file-system "$chroot"
  mkdir -p "$chroot"
  echo "test_on.sh: installing Debian $suite into $chroot" >&2
  log="$cache/chroot/$suite.log"
  # ccache as a guest: it makes the second time fast, and the project does not need it.
  mmdebstrap --variant=minbase --include=ccache "$suite" "$chroot" "${NIBU_MIRROR:-http://deb.debian.org/debian}" \
    >"$log" 2>&1 || { tail -n 20 "$log" >&2; echo "test_on.sh: error: mmdebstrap failed" >&2; exit 1; }
  echo "$made_by" >"$chroot/made_by"
fi
mkdir -p "$chroot/root/.ccache" "$cache/ccache/$suite"
cp /etc/resolv.conf "$chroot/etc/"

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

# In a mount namespace of its own: nothing stays mounted.
unshare --mount --fork bash -euo pipefail -c '
  mount -t proc proc "$1/proc"
  mount -t devpts -o newinstance,ptmxmode=0666 devpts "$1/dev/pts"
  mount --bind "$4" "$1/root/.ccache"
  exec env -i HOME=/root CCACHE_DIR=/root/.ccache LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin NIBU_WERROR="$3" \
    NIBU_FUZZ_SEEDS="${NIBU_FUZZ_SEEDS:-OFF}" \
    ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
    chroot "$1" bash -euo pipefail -c "
      cd /nibu/nibu
      said=\$(tools/quickstart.sh \"Where is the nearest train station?\")
      [ \"\$said\" = \"Wo ist der nächste Bahnhof?\" ] || { echo \"the quickstart said: \$said\" >&2; exit 1; }
      tools/test.sh $2"
' - "$chroot" "$preset" "${NIBU_WERROR:-OFF}" "$cache/ccache/$suite"
