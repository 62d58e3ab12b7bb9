#!/usr/bin/env bash
# Installs what nibu needs from the packages of Debian 12 or 13; does nothing when all is there.
#   tools/setup.sh        to build and run
#   tools/setup.sh python and for the Python package
#   tools/setup.sh test   and to run the tests
#   tools/setup.sh ci     and to run every check
#   tools/setup.sh chroot to test on another Debian (tools/dev/test_on.sh)
#   tools/setup.sh container to build and test a container (tools/packaging/container)
set -euo pipefail

# ocl-icd-opencl-dev: the CMake package of libdnnl-dev looks for OpenCL, but does not depend on it.
packages=(g++ cmake ninja-build pkg-config libdnnl-dev ocl-icd-opencl-dev libsentencepiece-dev libabsl-dev libhwy-dev
  nlohmann-json3-dev zlib1g-dev libicu-dev libre2-dev libyaml-cpp-dev libcld2-dev)
# Boost of at least 1.81, which Debian 12 has beside its usual 1.74.
if grep -qs '^VERSION_ID="12"' /etc/os-release; then packages+=(libboost1.81-dev); else packages+=(libboost-dev); fi
python=(python3-dev pybind11-dev python3-numpy python3-venv python3-pip)
case "${1:-}" in
  "") ;;
  python) packages+=("${python[@]}") ;;
  test) packages+=(libgtest-dev libgmock-dev libbenchmark-dev "${python[@]}" mypy) ;;
  ci) packages+=(libgtest-dev libgmock-dev libbenchmark-dev git ccache lld clang clang-tidy clang-format
    libclang-rt-dev gettext translate-toolkit pandoc chromium  # for tools/recipes; for nibu-inspect's page
    parallel make slurmctld slurmd slurm-client munge python3-distributed python3-pandas  # for the recipes for corpora
    curl unzip python3  # for tools/get_model.sh and its test
    abigail-tools python3-cffi  # for the C interface
    python3-html5lib  # for the test of pages
    haproxy nginx caddy openssl systemd  # for tools/serve/deploy
    "${python[@]}" mypy) ;;
  chroot) packages=(mmdebstrap) ;;
  container) packages=(buildah iproute2) ;;
  *) echo "setup.sh: error: unknown argument '$1'; use none, python, test, ci, chroot or container" >&2; exit 2 ;;
esac

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed ||
    missing+=("$package")
done
[ "${#missing[@]}" -gt 0 ] || exit 0

sudo=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null ||
    { echo "setup.sh: error: run as root or install sudo; missing: ${missing[*]}" >&2; exit 1; }
  sudo=(sudo)
fi
echo "setup.sh: installing ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { "${sudo[@]}" apt-get update &&
  "${sudo[@]}" apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 </dev/null; then
  tail -n 20 "$log" >&2
  echo "setup.sh: error: apt-get could not install ${missing[*]}" >&2
  exit 1
fi
