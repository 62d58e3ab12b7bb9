# shellcheck shell=bash
# Debian in a folder, for scripts that need another Debian, or one with nothing else in it. They source this file and
# run as root. Chroots and their compiler caches stay in the user's cache folder. NIBU_MIRROR: where Debian's packages
# come from.

chroots="${XDG_CACHE_HOME:-$HOME/.cache}/nibu/chroot"

# begin_chroots SUITE: checks the name and the rights, installs what is missing, and waits for other runs with this Debian.
begin_chroots() {
  [[ "$1" =~ ^[a-z]+$ ]] || { echo "${0##*/}: error: '$1' is no Debian; use bookworm or trixie" >&2; return 2; }
  [ "$(id -u)" -eq 0 ] || { echo "${0##*/}: error: a chroot needs root; run it with sudo" >&2; return 1; }
  "$(dirname "${BASH_SOURCE[0]}")/../setup.sh" chroot
  mkdir -p "$chroots"
  exec 9>"$chroots/$1.lock"
  flock 9
}

# install_debian SUITE TARGET [FLAG...]: makes a folder, or a file TARGET.tar, of a minimal Debian by mmdebstrap.
install_debian() {
  echo "${0##*/}: installing Debian $1 into $2" >&2
  mmdebstrap --variant=minbase "${@:3}" "$1" "$2" "${NIBU_MIRROR:-http://deb.debian.org/debian}" >"$2.log" 2>&1 ||
    { tail -n 20 "$2.log" >&2; echo "${0##*/}: error: mmdebstrap failed" >&2; return 1; }
}

# make_chroot SUITE FOLDER [FILE...]: installs a minimal Debian. One that is there is used again until a FILE changes.
make_chroot() {
  local made_by
  made_by=$(cat "${BASH_SOURCE[0]}" "${@:3}" | sha256sum)
  [ "$(cat "$2/made_by" 2>/dev/null)" != "$made_by" ] || return 0
  rm -rf --one-file-system "$2"
  mkdir -p "$2"
  # ccache as a guest: it makes the second time fast, and the project does not need it.
  install_debian "$1" "$2" --include=ccache
  echo "$made_by" >"$2/made_by"
}

# in_chroot SUITE FOLDER [NAME=VALUE...] COMMAND...: runs a command there, with these environment variables and no others.
# The mount namespace is its own: nothing stays mounted.
in_chroot() {
  local cache="${chroots%/*}/ccache/$1"
  mkdir -p "$cache" "$2/root/.ccache"
  cp /etc/resolv.conf "$2/etc/"
  # shellcheck disable=SC2016  # the inner shell's variables
  unshare --mount --fork bash -euo pipefail -c '
    mount -t proc proc "$1/proc"
    mount -t devpts -o newinstance,ptmxmode=0666 devpts "$1/dev/pts"
    mount --bind "$2" "$1/root/.ccache"
    exec chroot "$1" env -i HOME=/root CCACHE_DIR=/root/.ccache LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin \
      ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} "${@:3}"
  ' - "$2" "$cache" "${@:3}"
}
