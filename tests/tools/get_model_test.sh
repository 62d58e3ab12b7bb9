#!/usr/bin/env bash
# get_model_test.sh NIBU_TRANSLATE CAPTIONS_MODEL [SHARED]: tools/get_model.sh fetches models from a server on this
# computer that imitates the registries (get_model_server.py), and nibu-translate finds them by name. SHARED: the
# folder of real models; without it Firefox's and Argos Translate's files are fetched, but not translated with. 77:
# skipped.
# shellcheck disable=SC2011,SC2015
set -euo pipefail
export LC_ALL=C.UTF-8
translate=$1 captions_model=$2 shared=${3:-}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
get_model="$root/tools/get_model.sh"
for tool in python3 curl unzip; do
  command -v "$tool" >/dev/null || { echo "skipped: there is no $tool (apt-get install $tool)"; exit 77; }
done
tmp=$(mktemp -d)
server=""
trap 'rm -rf "$tmp"; [ -z "$server" ] || kill "$server"' EXIT
site="$tmp/site"
mkdir "$site" "$tmp/home"

fail() { echo "get_model_test.sh: $1" >&2; cat "$tmp/out" "$tmp/err" >&2; exit 1; }
python3 "$root/tests/tools/get_model_server.py" "$site" >"$tmp/port" &
server=$!
for ((i = 0; i < 100; i++)); do [ -s "$tmp/port" ] || sleep 0.1; done
url="http://127.0.0.1:$(cat "$tmp/port")"

# No proxy stands between the two, and no folder of this computer's user is touched.
unset NIBU_MODELS XDG_DATA_HOME
for name in http_proxy HTTP_PROXY https_proxy HTTPS_PROXY all_proxy ALL_PROXY; do unset "$name"; done
export HOME="$tmp/home" HF_ENDPOINT=$url NIBU_FIREFOX_REGISTRY="$url/models.json" NIBU_ARGOS_INDEX="$url/index.json"
models="$HOME/.local/share/nibu/models"

sleep() { :; }  # The pauses between tries are of no use here.
export -f sleep
get() { "$get_model" "$@" >"$tmp/out" 2>"$tmp/err" || fail "get_model.sh $* ended with $?"; }
rules() { printf '%s\n' "$@" >"$site/rules"; }
no_log() { rm -f "$site/log" "$site/rules"; }
logged() { grep -qE "$1" "$site/log" || { cat "$site/log"; fail "no request $1"; }; }
not_logged() { ! grep -qE "$1" "$site/log" || { cat "$site/log"; fail "a request $1"; }; }
says() { grep -qF -e "$1" "$tmp/out" "$tmp/err" || fail "nothing is said of \"$1\""; }
# refused STATUS PART ARGUMENT...: one line on standard error that has PART. Notes aside.
refused() {
  local status=0
  "$get_model" "${@:3}" >"$tmp/out" 2>"$tmp/err" || status=$?
  [ "$status" = "$1" ] || fail "get_model.sh ${*:3} ended with $status, not $1"
  [ "$(grep -c '^get_model.sh: error: ' "$tmp/err")" = 1 ] || fail "get_model.sh ${*:3}: not one error"
  ! grep -v '^get_model.sh: ' "$tmp/err" || fail "get_model.sh ${*:3}: more than its own lines"
  grep '^get_model.sh: error: ' "$tmp/err" | grep -qF -e "$2" || fail "get_model.sh ${*:3} does not say \"$2\""
}
absent() { [ ! -e "$models/$1" ] || fail "$1 is there"; }
nothing_left() { [ -z "$(find "$models" -mindepth 1 -name '.*' ! -name '.*.origin' -print -quit)" ] || fail "left over: $(ls -A "$models")"; }
same() { cmp "$1" "$2" || fail "$1 and $2 differ"; }
# said_command [SENTENCE]: the command that get_model.sh prints at its end works. It must be for the model of captions.
# SENTENCE: what the user writes in place of TEXT.
said_command() {
  local command
  command=$(sed -n 's/^    nibu-translate //p' "$tmp/out")
  [ -n "$command" ] || fail "no command is said"
  if [ -n "${1:-}" ]; then command=${command/\"TEXT\"/\"$1\"}; fi
  [ "$(eval "'$translate' --compute_type=float32 $command")" = "Ein Hund rennt." ] || fail "the command does not work: $command"
}

sum() { sha256sum "$1" | cut -d ' ' -f 1; }
# repository OWNER/NAME FILE...: a repository of Hugging Face with these files of $tmp/files/NAME.
repository() {
  local name=$1 file entries=""
  mkdir -p "$site/files/$name/resolve/main" "$site/api/models/$name/tree"
  for file in "${@:2}"; do
    mkdir -p "$(dirname "$site/files/$name/resolve/main/$file")"
    cp "$tmp/files/$file" "$site/files/$name/resolve/main/$file"
    entries+=",{\"type\":\"file\",\"oid\":\"$(sha1sum "$tmp/files/$file" | cut -d ' ' -f 1)\",\"size\":$(stat -c %s "$tmp/files/$file"),\"path\":\"$file\""
    case $file in
      *.json | *.md) ;;
      *) entries+=",\"lfs\":{\"oid\":\"$(sum "$tmp/files/$file")\",\"size\":$(stat -c %s "$tmp/files/$file"),\"pointerSize\":134}" ;;
    esac
    entries+="}"
  done
  echo "[{\"type\":\"directory\",\"oid\":\"00\",\"size\":0,\"path\":\"onnx\"}$entries]" >"$site/api/models/$name/tree/main"
}

# Hugging Face: the files that nibu reads, and no others; redirects; a file that is broken off several times.
mkdir "$tmp/files" "$tmp/files/onnx"
cp "$captions_model"/* "$tmp/files"
for file in pytorch_model.bin tf_model.h5 rust_model.ot flax_model.msgpack onnx/model.onnx .gitattributes; do
  echo "not needed" >"$tmp/files/$file"
done
printf -- '---\nlanguage: [en, de]\nlicense: cc-by-nc-4.0\n---\n# A model\n' >"$tmp/files/README.md"
all=(.gitattributes README.md config.json flax_model.msgpack generation_config.json model.safetensors onnx/model.onnx
  pytorch_model.bin rust_model.ot source.spm target.spm tf_model.h5 tokenizer_config.json vocab.json)
repository Helsinki-NLP/opus-mt-en-de "${all[@]}"
size=$(stat -c %s "$captions_model/model.safetensors")
rules "/files/Helsinki-NLP/opus-mt-en-de/resolve/main/model.safetensors drop 1000000 3"
refused 1 "the same command goes on with it" opus-mt-en-de
absent opus-mt-en-de
[ "$(stat -c %s "$models/.opus-mt-en-de.part/model.safetensors.part")" = 3000000 ] || fail "the first part is not there"
"$translate" --model=opus-mt-en-de x >"$tmp/out" 2>"$tmp/err" && fail "an unfinished model was found"
says "opus-mt-en-de: no such file or directory, and no model of this name in $models; tools/get_model.sh opus-mt-en-de fetches it"
no_log
get opus-mt-en-de
logged "^/files/.*/model.safetensors bytes=3000000- 206"
logged "^/Helsinki-NLP/opus-mt-en-de/resolve/main/model.safetensors bytes=3000000- 302"
not_logged "config.json"  # It was whole already.
for file in config.json generation_config.json model.safetensors source.spm target.spm tokenizer_config.json vocab.json; do
  same "$captions_model/$file" "$models/opus-mt-en-de/$file"
done
[ "$(ls -A "$models/opus-mt-en-de" | xargs)" = "README.md config.json generation_config.json model.safetensors \
origin.txt source.spm target.spm tokenizer_config.json vocab.json" ] || fail "other files: $(ls -A "$models/opus-mt-en-de")"
nothing_left
says "Its licence, cc-by-nc-4.0, forbids commercial use."
said_command

# A model that is there is not fetched again, and not mistaken for another one.
no_log
get opus-mt-en-de
says "opus-mt-en-de is there already"
said_command
[ ! -e "$site/log" ] || fail "requests for a model that is there"
get Helsinki-NLP/opus-mt-en-de
get https://huggingface.co/Helsinki-NLP/opus-mt-en-de/tree/main
refused 1 "there is another model (Hugging Face: Helsinki-NLP/opus-mt-en-de)" somebody/opus-mt-en-de
repository somebody/opus-mt-en-de "${all[@]}"
get somebody/opus-mt-en-de --name=mine
said_command

# A wrong size, a wrong checksum: the file is deleted, and so it is fetched again. (Small files from here on.)
weights="$tmp/files/model.safetensors"
seq 100000 >"$weights"
size=$(stat -c %s "$weights")
repository somebody/opus-mt-en-de "${all[@]}"
sed -i "s/$(sum "$captions_model/source.spm")/$(sum "$captions_model/vocab.json")/" "$site/api/models/somebody/opus-mt-en-de/tree/main"
refused 1 "source.spm: its checksum is wrong; it was deleted" somebody/opus-mt-en-de --name=wrong
absent wrong
[ ! -e "$models/.wrong.part/source.spm.part" ] || fail "a wrong file is still there"
repository somebody/opus-mt-en-de "${all[@]}"
echo >>"$site/files/somebody/opus-mt-en-de/resolve/main/target.spm"
refused 1 "target.spm: it has" somebody/opus-mt-en-de --name=wrong
repository somebody/opus-mt-en-de "${all[@]}"
get somebody/opus-mt-en-de --name=wrong
same "$captions_model/source.spm" "$models/wrong/source.spm"

# A part that is longer than the file, one that is as long but something else, and a server that has no ranges.
begun() {  # All files but the last have come.
  rules "/files/somebody/opus-mt-en-de/resolve/main/model.safetensors status 404"
  refused 1 "there is no such file" somebody/opus-mt-en-de --name=wrong
  no_log
}
for part in 10 0; do
  rm -rf "$models/wrong"
  begun
  head -c "$((size + part))" /dev/zero >"$models/.wrong.part/model.safetensors.part"
  if [ "$part" = 0 ]; then refused 1 "its checksum is wrong" somebody/opus-mt-en-de --name=wrong; fi
  get somebody/opus-mt-en-de --name=wrong
  same "$weights" "$models/wrong/model.safetensors"
done
rm -rf "$models/wrong"
begun
head -c 1000000 "$weights" >"$models/.wrong.part/model.safetensors.part"
rules "/files/ norange"
get somebody/opus-mt-en-de --name=wrong
same "$weights" "$models/wrong/model.safetensors"

# Weights in shards; PyTorch's where there is nothing else; a repository of something else.
no_log
mkdir "$tmp/mine"
for file in model.safetensors.index.json model-00001-of-00002.safetensors model-00002-of-00002.safetensors; do
  echo "$file" >"$tmp/files/$file"
done
repository somebody/shards config.json model-00001-of-00002.safetensors model-00002-of-00002.safetensors \
  model.safetensors.index.json pytorch_model.bin
get somebody/shards
[ "$(ls "$models/shards" | xargs)" = "config.json model-00001-of-00002.safetensors model-00002-of-00002.safetensors \
model.safetensors.index.json origin.txt" ] || fail "other shards: $(ls "$models/shards")"
repository somebody/torch config.json pytorch_model.bin tf_model.h5
get somebody/torch
[ -f "$models/torch/pytorch_model.bin" ] && [ ! -e "$models/torch/tf_model.h5" ] || fail "PyTorch's weights"
repository somebody/tensorflow config.json tf_model.h5
refused 1 "it has no model.safetensors and no pytorch_model.bin" somebody/tensorflow
sed -i 's/"marian"/"bert"/' "$tmp/files/config.json"
repository somebody/bert config.json model.safetensors
no_log
refused 1 "its model_type, \"bert\", is none of those that nibu reads" somebody/bert
not_logged "model.safetensors"
refused 1 "opus-mt-xx-yy: Hugging Face has no such model, or it needs a login; look at https://huggingface.co/Helsinki-NLP" opus-mt-xx-yy
rules "/api/models/facebook/nllb-200 status 401"
refused 1 "or it needs a login; look at https://huggingface.co/facebook" nllb-200
rules "/files/somebody/torch status 403"
refused 1 "it needs a login or a consent (HTTP 403); see https://huggingface.co/somebody/torch" somebody/torch --name=gated
rules "/api/models/somebody/torch status 500"
refused 1 "the download was interrupted" somebody/torch --name=gated
echo '[{"type":"file"' >"$site/api/models/somebody/torch/tree/main"
no_log
refused 1 "it is not the list of models that it should be" somebody/torch --name=gated
nothing_left

# A multilingual model is told its languages.
cp "$root"/tests/testdata/nllb/* "$tmp/files"
repository facebook/nllb-200-tiny config.json generation_config.json model.safetensors sentencepiece.bpe.model \
  special_tokens_map.json tokenizer.json tokenizer_config.json
get nllb-200-tiny
says "--model=nllb-200-tiny --src_lang=en --tgt_lang=fr"
[ -f "$models/nllb-200-tiny/tokenizer.json" ] || fail "no tokenizer.json"

# Firefox: the best of several models of a pair, uncompressed, with the model's checksum.
marian="$shared/models/en-de-ssru-marian-int8"
mkdir -p "$site/models/base" "$site/models/tiny" "$tmp/firefox"
if [ -d "$marian" ]; then
  cp "$marian/model.intgemm8.bin" "$tmp/firefox/model.ende.intgemm.alphas.bin"
  cp "$marian/lex.50.50.bin" "$tmp/firefox/lex.50.50.ende.s2t.bin"
  cp "$marian/vocab.spm" "$tmp/firefox/vocab.ende.spm"
else
  for file in model.ende.intgemm.alphas.bin lex.50.50.ende.s2t.bin vocab.ende.spm; do seq 100000 >"$tmp/firefox/$file"; done
fi
for file in "$tmp/firefox"/*; do gzip -9c "$file" >"$site/models/base/${file##*/}.gz"; done
registry() {  # CHECKSUM
  cat >"$site/models.json" <<JSON
{"generated":"2025-01-01","baseUrl":"$url","models":{
  "en-de":[
    {"architecture":"tiny","releaseStatus":"Release","files":{"model":{"path":"models/tiny/no.bin.gz"}}},
    {"architecture":"base","releaseStatus":"Nightly","files":{"model":{"path":"models/tiny/no.bin.gz"}}},
    {"architecture":"base-memory","releaseStatus":"Release","sourceLanguage":"en","targetLanguage":"de","files":{
      "lexicalShortlist":{"path":"models/base/lex.50.50.ende.s2t.bin.gz","uncompressedSize":1},
      "model":{"path":"models\/base\/model.ende.intgemm.alphas.bin.gz","uncompressedHash":"$1"},
      "vocab":{"path":"models/base/vocab.ende.spm.gz"}},
     "metrics":{"flores":{"comet":0.87},"note":"a \"quoted\" {brace"}}],
  "fr-en":[], "en-fr":[{"architecture":"tiny","files":{}}], "es-de":[{"architecture":"tiny","files":{}}]}}
JSON
}
registry "$(printf '%064d' 0)"
refused 1 "model.ende.intgemm.alphas.bin.gz: its checksum is wrong; it was deleted" firefox en-de
absent firefox-en-de
registry "$(sum "$tmp/firefox/model.ende.intgemm.alphas.bin")"
half=$(($(stat -c %s "$site/models/base/model.ende.intgemm.alphas.bin.gz") / 4))
rules "/models/base/model drop $half 3"
refused 1 "the same command goes on with it" firefox en-de
no_log
get firefox en-de
logged "^/models/base/model.ende.intgemm.alphas.bin.gz bytes=$((3 * half))- 206"
for file in "$tmp/firefox"/*; do same "$file" "$models/firefox-en-de/${file##*/}"; done
[ "$(find "$models/firefox-en-de" -type f | wc -l)" = 5 ] || fail "other files: $(ls "$models/firefox-en-de")"
says "Its licence is MPL-2.0."
nothing_left
if [ -d "$marian" ]; then
  said_command
  # Compressed, as the registry has them, they are read as well.
  [ "$("$translate" --model="$site/models/base" --compute_type=float32 "A dog runs.")" = "Ein Hund rennt." ] ||
    fail "the compressed files do not translate"
fi
get firefox-en-de
says "is there already"
refused 1 "it has no file for en-fr; look at https://mozilla" firefox en-fr
refused 1 "firefox en-es: there is no such pair; near it are en-de, en-fr; get_model.sh firefox lists all" firefox en-es
get firefox
[ "$(xargs <"$tmp/out")" = "en-de en-fr es-de" ] || fail "other pairs of Firefox"
# A file that has changed at the server is not put behind the first part of the old one.
rules "/models/base/model drop $((half + 1)) 3"
refused 1 "interrupted" firefox en-de --name=changed
gzip -1c "$tmp/firefox/model.ende.intgemm.alphas.bin" >"$site/models/base/model.ende.intgemm.alphas.bin.gz"
no_log
get firefox en-de --name=changed
same "$tmp/firefox/model.ende.intgemm.alphas.bin" "$models/changed/model.ende.intgemm.alphas.bin"
head -c 1000 "$tmp/firefox/vocab.ende.spm" >"$site/models/base/vocab.ende.spm.gz"
refused 1 "vocab.ende.spm.gz: it is not a whole gzip file" firefox en-de --name=no_gzip
rm -rf "$models/.no_gzip.part"  # Its other files would be of use.

# Argos Translate: the newest package of a pair, unpacked, or as it is where there is no unzip.
ct2="$shared/models/en-de-ct2"
mkdir -p "$tmp/argos/translate-en_de-1_9/model" "$site/argos"
if [ -d "$ct2" ]; then
  cp "$ct2"/* "$tmp/argos/translate-en_de-1_9/model"
  cp "$captions_model/source.spm" "$tmp/argos/translate-en_de-1_9/sentencepiece.model"
else
  seq 100000 | tee "$tmp/argos/translate-en_de-1_9/model/model.bin" >"$tmp/argos/translate-en_de-1_9/sentencepiece.model"
fi
echo '{"from_code": "en", "to_code": "de", "package_version": "1.9"}' >"$tmp/argos/translate-en_de-1_9/metadata.json"
pack() { python3 -m zipfile -c "$@"; }
(cd "$tmp/argos" && pack "$site/argos/translate-en_de-1_9.argosmodel" translate-en_de-1_9)
cat >"$site/index.json" <<JSON
[{"package_version": "1.10", "from_code": "en", "from_name": "English", "to_code": "de", "code": "translate-en_de",
  "links": ["$url/argos/translate-en_de-1_9.argosmodel"]},
 {"package_version": "1.9", "from_code": "en", "to_code": "de", "links": ["$url/argos/old.argosmodel"]},
 {"package_version": "1.0", "from_code": "de", "to_code": "en", "links": ["$url/argos/bpe.argosmodel"]},
 {"package_version": "1.0", "type": "sbd", "links": ["$url/argos/no.argosmodel"]}]
JSON
no_log
rules "/argos drop 10000 3"
refused 1 "the same command goes on with it" argos en_de
no_log
get argos en_de
logged "^/argos/translate-en_de-1_9.argosmodel bytes=30000- 206"
diff -r -x origin.txt "$tmp/argos/translate-en_de-1_9" "$models/argos-en-de" || fail "the package is not the same"
nothing_left
[ ! -d "$ct2" ] || said_command
refused 1 "argos en-fr: there is no such pair; near it are en-de; get_model.sh argos lists all" argos en-fr
get argos
[ "$(xargs <"$tmp/out")" = "de-en en-de" ] || fail "other pairs of Argos Translate"
mkdir "$tmp/bin"
for tool in bash cat cut curl mktemp rm mkdir find flock df tail head sed grep awk sort stat sleep mv tr sha256sum dirname readlink; do
  ln -s "$(command -v "$tool")" "$tmp/bin"
done
PATH="$tmp/bin" get argos en-de --name=zipped
[ -f "$models/zipped/argos-en-de.argosmodel" ] || fail "the package is not there as it is"
[ ! -d "$ct2" ] || said_command
(cd "$tmp/argos" && mkdir -p bpe/model && touch bpe/bpe.model bpe/model/model.bin && pack "$site/argos/bpe.argosmodel" bpe)
get argos de-en
says "its bpe.model is for text that Moses' tokenizer has split"
rm "$tmp/bin/curl"
PATH="$tmp/bin" refused 1 "there is no curl; apt-get install curl" argos en-de --name=other

# Addresses: archives with the model in a folder or without one, a file, and what they must not do.
mkdir -p "$site/OPUS-MT-models/en-de" "$tmp/packed"
(cd "$captions_model" && pack "$site/OPUS-MT-models/en-de/opus-2020-02-26.zip" ./*)
get "$url/OPUS-MT-models/en-de/opus-2020-02-26.zip"
same "$captions_model/vocab.json" "$models/marian-en-de-2020-02-26/vocab.json"
said_command
cp -r "$captions_model" "$tmp/packed/in a folder"
tar -czf "$site/packed.tar.gz" -C "$tmp/packed" .
get "$url/packed.tar.gz?download=1" --name=packed
said_command "A dog runs."
"${translate%/*}/nibu-convert" --model="$captions_model" --out="$site/captions.nibu" >"$tmp/out" 2>"$tmp/err" ||
  fail "nibu-convert"
get "$url/captions.nibu"
said_command "A dog runs."
refused 1 "there is no such file (HTTP 404); look at $url/" "$url/nothing.zip"
echo '<!DOCTYPE html><p>Log in' >"$site/page.zip"
refused 1 "it is a web page, not the file itself" "$url/page.zip"
(cd "$root" && pack "$site/sources.zip" README.md CHANGELOG.md)
refused 1 "there is no model in it" "$url/sources.zip"
absent sources
head -c 100000 "$site/OPUS-MT-models/en-de/opus-2020-02-26.zip" >"$site/cut.zip"
refused 1 "it is not a whole archive" "$url/cut.zip"
python3 - "$site" <<'PYTHON'
import io, os, sys, tarfile, zipfile
os.chdir(sys.argv[1])
for name, member in (("parent", "../escaped"), ("deep", "a/../../escaped"), ("absolute", "/tmp/nibu_escaped"),
                     ("backslash", "..\\escaped")):
    with zipfile.ZipFile(name + ".zip", "w") as archive:
        archive.writestr(member, "escaped")
    with tarfile.open(name + ".tgz", "w:gz") as archive:
        info = tarfile.TarInfo(member)
        info.size = 7
        archive.addfile(info, io.BytesIO(b"escaped"))
with zipfile.ZipFile("link.zip", "w") as archive:
    info = zipfile.ZipInfo("config.json")
    info.create_system, info.external_attr = 3, 0o120777 << 16
    archive.writestr(info, "/etc/passwd")
with tarfile.open("link.tgz", "w:gz") as archive:
    info = tarfile.TarInfo("config.json")
    info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
    archive.addfile(info)
PYTHON
for archive in parent deep absolute backslash link; do
  refused 1 "leads out of its folder, or is a link; it was not unpacked" "$url/$archive.zip"
  refused 1 "leads out of its folder, or is a link; it was not unpacked" "$url/$archive.tgz"
  absent "$archive"
done
[ -z "$(find "$tmp" -name '*escaped*' -print -quit)" ] && [ ! -e /tmp/nibu_escaped ] || fail "an archive wrote outside"

# Usage.
refused 2 "unknown model \"captions\"" captions
refused 2 "unknown flag \"--force\"" --force
refused 2 "\"en\" is no pair of languages" firefox en
refused 2 "one model at a time" opus-mt-en-de opus-mt-de-en
refused 2 "cannot be a model's name" opus-mt-en-fr --name=../x
"$get_model" --help >"$tmp/out" 2>"$tmp/err" || fail "--help"
says "Usage: get_model.sh MODEL"
status=0
HOME="" "$get_model" opus-mt-en-de >"$tmp/out" 2>"$tmp/err" || status=$?
[ "$status" = 1 ] || fail "without a home: $status"
says "neither NIBU_MODELS nor HOME is set"
NIBU_MODELS="$tmp/other" get opus-mt-en-de
NIBU_MODELS="$tmp/other" said_command
HF_ENDPOINT="http://127.0.0.1:9" refused 1 "cannot be fetched" opus-mt-en-nl

# shellcheck source=/dev/null
source "$root/tests/tools/get_model_trouble.sh"
echo "get_model.sh fetches, goes on, checks and refuses"
