#!/usr/bin/env bash
# tools/test_on.sh SUITE [PRESET]: the quickstart and every test on another Debian (bookworm, trixie),
# from nothing but its packages, in a chroot. Needs root. The chroot stays in build/chroot/SUITE and is
# used again; remove it to begin anew. NIBU_MIRROR: where Debian's packages come from.
set -euo pipefail

suite=${1:-}
preset=${2:-release}
[[ "$suite" =~ ^[a-z]+$ ]] || { echo "Usage: tools/test_on.sh SUITE [PRESET]" >&2; exit 2; }
[ "$(id -u)" -eq 0 ] || { echo "test_on.sh: error: a chroot needs root; run it with sudo" >&2; exit 1; }
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
chroot="$source/build/chroot/$suite"
"$source/tools/setup.sh" chroot

if [ ! -e "$chroot/complete" ]; then
  rm -rf "$chroot"
  mkdir -p "$chroot"
  echo "test_on.sh: installing Debian $suite into $chroot" >&2
  log="$source/build/chroot/$suite.log"
  # In a mount namespace of its own, here and below: nothing stays mounted.
  unshare --mount --fork debootstrap --variant=minbase "$suite" "$chroot" "${NIBU_MIRROR:-http://deb.debian.org/debian}" \
    >"$log" 2>&1 || { tail -n 20 "$log" >&2; echo "test_on.sh: error: debootstrap failed" >&2; exit 1; }
  touch "$chroot/complete"
fi
cp /etc/resolv.conf "$chroot/etc/"

# The tree as it is, and shared/ beside it, which some tests look for; what was built before stays.
copy() {  # FROM TO
  mkdir -p "$2"
  find "$2" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
  tar -C "$1" --exclude=./build --exclude=./.git -c . | tar -C "$2" -x --no-same-owner
}
copy "$source" "$chroot/nibu/nibu"
rm -rf "$chroot/nibu/shared"
[ ! -d "$source/../shared" ] || copy "$source/../shared" "$chroot/nibu/shared"

unshare --mount --fork bash -euo pipefail -c '
  mount -t proc proc "$1/proc"
  mount -t devpts -o newinstance,ptmxmode=0666 devpts "$1/dev/pts"
  exec env -i HOME=/root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin NIBU_WERROR="$3" \
    ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
    chroot "$1" bash -euo pipefail -c "
      cd /nibu/nibu
      said=\$(tools/quickstart.sh \"A man is riding a bicycle.\")
      [ \"\$said\" = \"Ein Mann fährt Fahrrad.\" ] || { echo \"the quickstart said: \$said\" >&2; exit 1; }
      tools/test.sh $2"
' - "$chroot" "$preset" "${NIBU_WERROR:-OFF}"
