#!/usr/bin/env bash
# container_test.sh SUITE: builds the container of the packages in build/packages/SUITE, and runs what its image says, as
# the user that it says, without a network, with a root folder that cannot be written and a folder of models. Since buildah
# runs no container like that, a chroot with the image's files stands for it. Needs root and, to build, the network.
set -euo pipefail
suite=$1
root=$(cd "$(dirname "$0")/../../.." && pwd)
image="localhost/nibu-serve-test-$suite"
fail() { echo "container_test.sh: $*" >&2; exit 1; }
buildah() { command buildah --storage-driver vfs "$@"; }
"$root/tools/packaging/container" "$suite" "$image" >/dev/null
work=$(mktemp -d)
container=$(buildah from "$image")
trap 'buildah rm "$container" >/dev/null; buildah rmi "$image" >/dev/null; rm -rf "$work"' EXIT
dpkg-deb -x "$root"/build/packages/"$suite"/nibu-model-en-de_*.deb "$work"

said() { buildah inspect --format "$1" "$container" | sed '/^$/d'; }  # FORMAT
mapfile -t environment < <(said '{{range .OCIv1.Config.Env}}{{println .}}{{end}}')
mapfile -t entry < <(said '{{range .OCIv1.Config.Entrypoint}}{{println .}}{{end}}')
mapfile -t health < <(said '{{range .Docker.Config.Healthcheck.Test}}{{println .}}{{end}}')
user=$(said '{{.OCIv1.Config.User}}')
[ "$user" = 65534:65534 ] || fail "the user is $user"
[ "${health[0]}" = CMD ] || fail "the health check is ${health[*]}"
said '{{.OCIv1.Config.Volumes}}' | grep -q /models || fail "/models is no volume"

# shellcheck disable=SC2016  # the inner shell's variables
unshare --net --mount --fork bash -euo pipefail -c '
  folder=$1 models=$2 user=$3 health=("${@:5:$4}")
  shift "$(($4 + 4))"
  ip link set lo up
  mount --bind "$folder" "$folder"
  mount -t proc proc "$folder/proc"
  mount --bind "$models" "$folder/models"
  mount -o remount,ro,bind "$folder"
  ! touch "$folder/tmp/x" 2>/dev/null || { echo "the root folder can be written" >&2; exit 1; }
  is_healthy() { chroot --userspec="$user" "$folder" env -i "${environment[@]}" "${health[@]}" 2>/dev/null; }
  environment=()
  while [[ $1 == *=* ]]; do environment+=("$1"); shift; done
  ! is_healthy || { echo "healthy before the start" >&2; exit 1; }
  chroot --userspec="$user" "$folder" env -i "${environment[@]}" "$@" &
  server=$!
  for _ in $(seq 50); do ! is_healthy || break; sleep 0.2; done
  is_healthy || { echo "the health check fails" >&2; exit 1; }
  chroot --userspec="$user" "$folder" python3 -c "
import json, urllib.request
data = json.dumps({\"q\": \"Where is the nearest train station?\", \"source\": \"en\", \"target\": \"de\"}).encode()
said = json.load(urllib.request.urlopen(\"http://127.0.0.1:5000/translate\", data))[\"translatedText\"]
assert said == \"Wo ist der nächste Bahnhof?\", said"
  kill "$server"
  wait "$server"
' - "$(buildah mount "$container")" "$work/usr/share/nibu/models" "$user" "$((${#health[@]} - 1))" "${health[@]:1}" \
  "${environment[@]}" "${entry[@]}"
echo "$suite: the container was built by buildah, and its files ran in a chroot without a network"
