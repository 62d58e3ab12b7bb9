#!/usr/bin/env bash
# use_packages.sh: packages_test.sh runs it in a chroot, whose /debs has the packages of two versions.
set -euo pipefail
cd /tmp
fail() { echo "use_packages.sh: $*" >&2; exit 1; }
english="Where is the nearest train station?" german="Wo ist der nächste Bahnhof?"
expect() { [ "$2" = "$german" ] || fail "$1 said: $2"; }  # WHO WHAT
install() { apt-get install -y --no-install-recommends "$@" >install.log 2>&1 || { cat install.log >&2; fail "cannot install $*"; }; }

use() {
  expect nibu-translate "$(nibu-translate "$english")"
  nibu-get-model --help >/dev/null
  nibu-translate --version
  for file in man/man1/nibu-serve.1.gz man/man3/nibu_c.3.gz bash-completion/completions/nibu-score doc/nibu/README.md \
    zsh/vendor-completions/_nibu-convert nibu/recipes/mail.sh; do
    [ -s "/usr/share/$file" ] || gzip -t "/usr/share/$file.gz" || fail "there is no /usr/share/$file"
  done
  printf '1\n00:00:01,000 --> 00:00:02,000\n%s\n' "$english" >film.srt
  /usr/share/nibu/recipes/subtitles.sh film.srt film.de.srt
  expect "the recipe" "$(tail -n 1 film.de.srt)"
  expect Python "$(python3 -c 'import nibu, sys; print(nibu.Translator().translate(sys.argv[1]))' "$english")"
  python3 -c 'import importlib.metadata; importlib.metadata.version("nibu")'

  # The server, with the packages' configuration and as a user without rights. systemd does not run here.
  grep -q '^ExecStart=/usr/bin/nibu-serve --config=/etc/nibu/serve.yml$' /lib/systemd/system/nibu-serve.service
  NIBU_PORT=0 setpriv --reuid=65534 --regid=65534 --clear-groups nibu-serve --config=/etc/nibu/serve.yml >serve.log 2>&1 &
  server=$!
  for _ in $(seq 100); do
    address=$(grep -o 'http://[0-9.:]*' serve.log | head -n 1) && break
    sleep 0.2
  done
  [ -n "$address" ] || fail "nibu-serve said: $(cat serve.log)"
  said=$(curl -sS -d "q=$english" -d source=en -d target=de "$address/translate")
  kill "$server"
  wait "$server" || fail "nibu-serve ended with an error: $(cat serve.log)"
  [[ $said == *"$german"* ]] || fail "nibu-serve answered: $said"

  # Programs that were compiled with the older version run with the newer one.
  read -ra flags < <(pkg-config --cflags --libs nibu)
  [ -e c_program ] || gcc -o c_program /debs/translate.c "${flags[@]}"
  expect "the C program" "$(./c_program /usr/share/nibu/models/en-de "$english")"
  mkdir -p cxx
  printf '%s\n' 'cmake_minimum_required(VERSION 3.18)' 'project(example CXX)' 'find_package(nibu REQUIRED)' \
    'add_executable(example /debs/translate.cc)' 'target_link_libraries(example nibu::nibu)' >cxx/CMakeLists.txt
  cmake -S cxx -B cxx/build >/dev/null
  cmake --build cxx/build >/dev/null
  expect "the C++ program" "$(cxx/build/example /usr/share/nibu/models/en-de "$english")"
}

apt-get update >/dev/null
install curl gcc g++ cmake make pkg-config
install /debs/older/*.deb
use
echo "# A change by the administrator" >>/etc/nibu/serve.yml
install /debs/new/*.deb
grep -q "by the administrator" /etc/nibu/serve.yml || fail "the upgrade has changed the configuration"
for package in /debs/new/*.deb; do
  [ "$(dpkg-query -W -f '${Version}' "$(dpkg-deb -f "$package" Package)")" = "$(dpkg-deb -f "$package" Version)" ] ||
    fail "not upgraded: $package"
done
use

# All packages go, and with them every file that bears the name or, among the system's settings, has it.
mkdir -p /var/lib/private/nibu
for package in /debs/new/*.deb; do dpkg-deb -f "$package" Package; done | xargs apt-get purge -y >/dev/null
rm -rf /tmp/*
left=$(find / -xdev -iname '*nibu*' ! -path '/debs/*' ! -path '/proc/*' ! -path '/root/.ccache/*')
left+=$(grep -rlI nibu /etc /usr/lib/systemd /var/lib/systemd /var/lib/dpkg/{status,info,diversions,statoverride} 2>/dev/null || true)
[ -z "$left" ] || fail "what is left behind: $left"
