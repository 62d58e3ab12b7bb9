# shellcheck shell=bash disable=SC2011,SC2154
# Sourced by get_model_test.sh, whose server and functions it uses: downloads that a signal ends, models that change
# between two calls, lists that are none, and folders that cannot be written.

# A signal ends the download and curl with it, and the next call goes on. With Ctrl-C, the whole group gets the signal.
# interrupted SIGNAL STATUS URL: the download stalls behind its first bytes, and is ended.
interrupted() {
  local id status=0 part=""
  rm -f "$site/log"
  set -m
  "$get_model" "${@:3}" >"$tmp/out" 2>"$tmp/err" &
  id=$!
  set +m
  for ((i = 0; i < 200; i++)); do
    ! grep -q '/changing' "$site/log" 2>/dev/null ||
      part=$(find "$models" -path '*/.*.part/*.part' -size +1k -exec test -s '{}.new' ';' -print -quit)
    [ -z "$part" ] || break
    command sleep 0.05
  done
  [ -n "$part" ] || fail "the download of ${*:3} does not begin"
  if [ "$1" = INT ]; then kill -INT -- "-$id"; else kill "-$1" "$id"; fi
  wait "$id" || status=$?
  [ "$status" = "$2" ] || fail "SIG$1 ended get_model.sh with $status, not $2"
  [ "$(grep -v ': fetching ' "$tmp/err")" = "get_model.sh: interrupted; the same command goes on with the download" ] ||
    fail "SIG$1: other lines"
  # curl would hold the lock.
  flock -w 5 "${part%/*}" true || fail "SIG$1 has left curl"
}
seq 100000 >"$site/changing.bin"
rules "/changing stall 100000"
interrupted TERM 143 "$url/changing.bin"
rules "/changing stall 50000"
interrupted HUP 129 "$url/changing.bin"
interrupted INT 130 "$url/changing.bin"
no_log
get "$url/changing.bin"
logged "^/changing.bin bytes=[0-9]+- 206"
same "$site/changing.bin" "$models/changing.bin"
# A file that changes between two calls is fetched from its beginning.
rm "$models/changing.bin"
rules "/changing stall 100000"
interrupted INT 130 "$url/changing.bin"
seq 100000 200000 >"$site/changing.bin"
no_log
get "$url/changing.bin"
same "$site/changing.bin" "$models/changing.bin"
# The same holds if the file now has the size of the first part.
rm "$models/changing.bin"
rules "/changing drop 100000 3"
refused 1 "the same command goes on with it" "$url/changing.bin"
seq 100001 200000 >"$tmp/numbers"
head -c 300000 "$tmp/numbers" >"$site/changing.bin"
no_log
get "$url/changing.bin"
same "$site/changing.bin" "$models/changing.bin"

# A single file from another address is another model.
mkdir -p "$site/other/files"
seq 10 >"$site/other/files/changing.bin"
get "$url/changing.bin"
says "changing.bin is there already"
refused 1 "there is another model ($url/changing.bin); remove it" "$url/other/files/changing.bin"
seq 10 >"$models/mine.bin"
refused 1 "there is another model (of unknown origin); remove it" "$url/other/files/changing.bin" --name=mine.bin
get "$url/other/files/changing.bin" --name=other.bin

# A model of several files whose download is interrupted, and of which there is a new version by then: none of the old
# files stays.
seq 100000 >"$tmp/files/model.safetensors"
sed -i 's/"bert"/"marian"/' "$tmp/files/config.json"
versions=(config.json model.safetensors vocab.json)
for first in old cut; do
  seq 1 5 >"$tmp/files/vocab.json"
  repository somebody/versions "${versions[@]}"
  rules "/files/somebody/versions/resolve/main/model.safetensors status 404"
  refused 1 "there is no such file" somebody/versions
  no_log
  [ -f "$models/.versions.part/vocab.json" ] || fail "vocab.json has not come"
  if [ "$first" = old ]; then
    seq 5 9 >"$tmp/files/vocab.json"
    repository somebody/versions "${versions[@]}"
  else  # the same version, but a file has been cut
    : >"$models/.versions.part/vocab.json"
  fi
  get somebody/versions
  same "$tmp/files/vocab.json" "$models/versions/vocab.json"
  if [ "$first" = cut ]; then not_logged "config.json"; fi
  rm -rf "$models/versions"
done

# A file that is there has to be as long as the list says, and of its checksum.
cp "$captions_model/source.spm" "$tmp/files/source.spm"
repository somebody/versions "${versions[@]}" source.spm
rules "/files/somebody/versions/resolve/main/model.safetensors status 404"
refused 1 "there is no such file" somebody/versions
no_log
printf x | dd of="$models/.versions.part/source.spm" conv=notrunc status=none
get somebody/versions
same "$captions_model/source.spm" "$models/versions/source.spm"
logged "resolve/main/source.spm - 200"
not_logged "config.json"

# Firefox: the files of another version in the registry, some of which have other names.
gzip -9c "$tmp/firefox/vocab.ende.spm" >"$site/models/base/vocab.ende.spm.gz"
rules "/models/base/vocab status 404"
refused 1 "there is no such file" firefox en-de --name=update
[ -f "$models/.update.part/model.ende.intgemm.alphas.bin" ] || fail "Firefox's model has not come"
no_log
cp "$site/models.json" "$tmp/models.json"
seq 7 >"$tmp/new.bin"
gzip -c "$tmp/new.bin" >"$site/models/base/model.new.bin.gz"
sed -i "s,model.ende.intgemm.alphas,model.new,; s/$(sum "$tmp/firefox/model.ende.intgemm.alphas.bin")/$(sum "$tmp/new.bin")/" \
  "$site/models.json"
get firefox en-de --name=update
[ "$(ls "$models/update" | xargs)" = "lex.50.50.ende.s2t.bin metadata.json model.new.bin origin.txt vocab.ende.spm" ] ||
  fail "files of two versions: $(ls "$models/update")"
cp "$tmp/models.json" "$site/models.json"

# A long list of files.
{ printf '['; printf '{"type":"file","size":1,"path":"onnx/%s"},' {1..20000}; } >"$tmp/list"
sed 's/^\[//' "$site/api/models/somebody/versions/tree/main" >>"$tmp/list"
cp "$tmp/list" "$site/api/models/somebody/versions/tree/main"
get somebody/versions --name=long

# Lists that are none.
for text in '<!DOCTYPE html><p>Log in' '[]' '{}' '{"baseUrl":"x","models":{}}'; do
  echo "$text" >"$site/no_list.json"
  NIBU_FIREFOX_REGISTRY="$url/no_list.json" refused 1 "it is not the list of models that it should be" firefox en-de --name=x
  NIBU_ARGOS_INDEX="$url/no_list.json" refused 1 "it is not the list of models that it should be" argos en-de --name=x
done
cat >"$site/no_list.json" <<JSON
[{"package_version": "1.10", "from_code": "en", "to_code": "fr", "links": []},
 {"package_version": "1.9", "from_code": "en", "to_code": "de", "links": ["$url/argos/translate-en_de-1_9.argosmodel"]},
 {"package_version": "1.10", "from_code": "en", "to_code": "de", "links": []}]
JSON
NIBU_ARGOS_INDEX="$url/no_list.json" refused 1 "there is no such pair" argos en-fr
NIBU_ARGOS_INDEX="$url/no_list.json" get argos en-de --name=linked

# The example is in the language that the model translates from.
cp "$site/models.json" "$tmp/models.json"
sed -i 's/"en-de"/"fr-de"/' "$site/models.json"
get firefox fr-de
says '"Un chien court."'
sed -i 's/"fr-de"/"xx-de"/' "$site/models.json"
get firefox xx-de
says '"TEXT"'
cp "$tmp/models.json" "$site/models.json"

# A file that is asked for by https is not fetched by http, whatever the server says.
printf '#!/bin/sh\nprintf "%%s " "$@" >"%s"\nexit 6\n' "$tmp/options" >"$tmp/bin/curl"
chmod +x "$tmp/bin/curl"
PATH="$tmp/bin:$PATH" refused 1 "cannot be fetched" https://127.0.0.1/x.zip
grep -qF -e "--proto-redir =https " "$tmp/options" || fail "redirects to http: $(cat "$tmp/options")"
PATH="$tmp/bin:$PATH" refused 1 "cannot be fetched" http://127.0.0.1/x.zip
grep -qF -e "--proto-redir =http,https " "$tmp/options" || fail "no redirects to http: $(cat "$tmp/options")"

# Folders and files that are in the way: one line for each.
echo >"$tmp/file"
NIBU_MODELS="$tmp/file" refused 1 "this folder cannot be made; NIBU_MODELS can name another one" opus-mt-en-de
NIBU_MODELS=/proc refused 1 "this folder cannot be made; NIBU_MODELS can name another place" opus-mt-en-de
TMPDIR="$tmp/nothing" refused 1 "$tmp/nothing: no temporary folder can be made there" opus-mt-en-de
export NIBU_MODELS="$tmp/trouble"
mkdir "$NIBU_MODELS"
echo >"$NIBU_MODELS/.opus-mt-en-de.part"
refused 1 "the download needs this name for a folder; remove it" opus-mt-en-de
ln -s nowhere "$NIBU_MODELS/link"
refused 1 "a symbolic link to what is not there; remove it" opus-mt-en-de --name=link
for folder in vocab.json vocab.json.part; do
  rules "/files/Helsinki-NLP/opus-mt-en-de/resolve/main/vocab.json status 404"
  refused 1 "there is no such file" opus-mt-en-de --name=folder
  no_log
  rm -rf "$NIBU_MODELS/.folder.part/vocab.json"*
  mkdir "$NIBU_MODELS/.folder.part/$folder"
  refused 1 "$NIBU_MODELS/.folder.part/$folder: there is a folder in the file's place; remove it" opus-mt-en-de --name=folder
  rmdir "$NIBU_MODELS/.folder.part/$folder"
done
unset NIBU_MODELS
