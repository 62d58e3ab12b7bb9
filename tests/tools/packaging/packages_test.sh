#!/usr/bin/env bash
# packages_test.sh SUITE: builds the packages of HEAD twice and those of the commit before it for a Debian. Both builds
# have the same bytes, and no program names their folder. In another chroot, the older packages are installed and used,
# upgraded, used again and purged, which leaves nothing. Needs root and the network.
set -euo pipefail
suite=$1
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
fail() { echo "packages_test.sh: $*" >&2; exit 1; }
out="$root/build/packages/$suite"

"$root/tools/packaging/build" "$suite" "$out"
"$root/tools/packaging/build" "$suite" "$out-again"
"$root/tools/packaging/build" "$suite" "$out-older" HEAD~1

packages=(libnibu-dev libnibu1 nibu nibu-model-en-de nibu-serve python3-nibu)
[ "$(cd "$out" && printf '%s\n' * | sed 's/_.*//' | LC_ALL=C sort | xargs)" = "${packages[*]}" ] || fail "these are the packages: $(ls "$out")"
diff -r "$out" "$out-again" || fail "two builds differ"
version() { dpkg-deb -f "$1"/nibu_*.deb Version; }  # FOLDER
dpkg --compare-versions "$(version "$out-older")" lt "$(version "$out")" || fail "HEAD~1 has no lower version"
dpkg-deb -f "$out"/nibu-model-en-de_*.deb Section | grep -q ^non-free || fail "the model is not in non-free"
! dpkg-deb -f "$out"/nibu_*.deb Depends | grep model || fail "nibu needs the model"

# shellcheck source-path=SCRIPTDIR source=../../../tools/dev/chroot.sh
. "$root/tools/dev/chroot.sh"
begin_chroots "$suite"
make_chroot "$suite" "$chroots/$suite-clean"
chroot=$(mktemp -d "$chroots/$suite-XXXXXX")
trap 'rm -rf --one-file-system "$chroot"' EXIT
cp -a "$chroots/$suite-clean/." "$chroot"
mkdir "$chroot/debs"
cp -R "$out" "$chroot/debs/new"
cp -R "$out-older" "$chroot/debs/older"
for package in "$out"/*.deb; do dpkg-deb -x "$package" "$chroot/debs/unpacked"; done
while IFS= read -r file; do
  ! head -c 4 "$file" | grep -qa ELF || ! grep -qa /build/ "$file" || fail "$file names the folder of its build"
done < <(find "$chroot/debs/unpacked" -type f)
rm -r "$chroot/debs/unpacked"
cp "$here/use_packages.sh" "$root"/tests/library_example/translate.{c,cc} "$chroot/debs/"

in_chroot "$suite" "$chroot" DEBIAN_FRONTEND=noninteractive bash -euo pipefail /debs/use_packages.sh </dev/null
echo "$suite: $(version "$out") built twice, installed, used, upgraded and purged; KB: $(du -k "$out"/*.deb | sed "s|$out/||; s/_.*//" | xargs)"
