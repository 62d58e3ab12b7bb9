# shellcheck shell=bash disable=SC2034,SC2154
# Sourced by get_model.sh: the folder of models. A model is fetched into $models/.NAME.part, where an interrupted
# download stays for the next call, and gets its name when it is whole.

# begin NAME ORIGIN: sets $target, where the model will lie, and $work, the folder for its files until all have come.
# Ends the program if the model is there already.
begin() {
  model=${wanted_name:-$1} origin=$2
  is_name "$model" || wrong_usage "\"$model\" cannot be a model's name; give one with --name"
  local absolute
  mkdir -p -- "$models" 2>/dev/null || fail "$models: this folder cannot be made; NIBU_MODELS can name another one"
  absolute=$(cd -- "$models" >/dev/null 2>&1 && pwd) ||
    fail "$models: this folder cannot be opened; NIBU_MODELS can name another one"
  models=$absolute target="$absolute/$model"
  is_there
  work="$models/.$model.part"
  if ! mkdir -p -- "$work" 2>/dev/null || ! { exec 9<"$work"; } 2>/dev/null; then
    [ ! -e "$work" ] || fail "$work: the download needs this name for a folder; remove it"
    fail "$work: this folder cannot be made; NIBU_MODELS can name another place"
  fi
  if ! flock -n 9; then
    work=""
    fail "$model: another $program is fetching it"
  fi
  is_there
  # Files from another place do not belong to this model.
  [ "$(sed -n 1p "$work/origin.txt" 2>/dev/null)" = "$origin" ] || start_over "$origin"
}

# version TEXT: says what the registry offers now, such as a hash of its list of files. Files of another version, which
# an interrupted download has left, are removed.
version() { [ "$(sed -n 2p "$work/origin.txt")" = "$1" ] || start_over "$origin" "$1"; }

# start_over LINE...: empties $work, and writes the lines into origin.txt: where the files come from, and their version.
start_over() {
  find "$work" -mindepth 1 -delete 2>/dev/null || fail "$work: this folder cannot be emptied; remove it"
  write "$work/origin.txt" "$@"
}

# write FILE LINE...: writes the lines into a file.
write() {
  { printf '%s\n' "${@:2}" >"$1"; } 2>/dev/null || fail "$1: cannot be written; is the disk full?"
}

# Ends the program if the model is there already, and fails if another one has its name. A folder has its origin.txt; a
# model that is a single file has it beside it.
is_there() {
  local record="$target/origin.txt" there="of unknown origin"
  if ! [ -e "$target" ]; then
    [ ! -L "$target" ] || fail "$target: a symbolic link to what is not there; remove it"
    return 0
  fi
  [ -d "$target" ] || record="$models/.$model.origin"
  [ ! -f "$record" ] || there=$(sed -n 1p "$record")
  [ "$there" = "$origin" ] ||
    fail "$target: there is another model ($there); remove it, or give this one another name with --name"
  note "$model is there already; remove $target to fetch it again"
  describe
  exit 0
}

# need_space BYTES: fails if the disk has less space left.
need_space() {
  local free
  free=$(df --output=avail -B 1 -- "$work" | tail -n 1)
  [ "${1:-0}" -le "$free" ] || fail "$models: $(megabytes "$1") are needed there, and $(megabytes "$free") are free"
}

# finish [PATH]: gives $work, or a file or folder in it, the model's name.
finish() {
  local whole=${1:-$work}
  if [ ! -d "$whole" ]; then
    mv -T -- "$work/origin.txt" "$models/.$model.origin"
  elif [ "$whole" != "$work" ]; then
    mv -- "$work/origin.txt" "$whole/"
  fi
  mv -T -- "$whole" "$target" 2>/dev/null || fail "$target: cannot be made"
  rm -rf -- "$work"
  describe
}

# sentence LANGUAGE: prints a sentence in this language to try a model with, or TEXT.
sentence() {
  case $1 in
    de) echo "Ein Hund rennt." ;;
    en | eng) echo "A dog runs." ;;
    es) echo "Un perro corre." ;;
    fr) echo "Un chien court." ;;
    it) echo "Un cane corre." ;;
    nl) echo "Een hond rent." ;;
    pl) echo "Pies biegnie." ;;
    pt) echo "Um cão corre." ;;
    ru) echo "Собака бежит." ;;
    *) echo TEXT ;;
  esac
}

# Prints how to translate with a model that is there.
describe() {
  local flags="" text language="" license="" type="" example
  # The source language stands before the target language at the end of a name, or in OPUS-MT's addresses.
  if [[ $origin =~ [-/\ ]([a-z]{2,3})[-_][A-Za-z]{2,4}(/opus[^/]*)?$ ]]; then language=${BASH_REMATCH[1]}; fi
  text=$(sentence "$language")
  type=$(value_of "$target/config.json" model_type)
  case $type in
    m2m_100 | mbart) flags=" --src_lang=en --tgt_lang=fr" text=$(sentence en) ;;
    t5 | mt5)
      text=$(sentence en)
      if grep -qa '<2fr>' "$target/spiece.model"; then
        text="<2fr> $text"
      else
        text="translate English to French: $text"
      fi ;;
    marian)
      example=$(grep -aoE '>>[A-Za-z_]+<<' "$target/vocab.json" | head -n 1 || true)
      [ -z "$example" ] || text="$example $text" ;;
  esac
  license=$(sed -n '2,/^---/s/^license: *//p' "$target/README.md" 2>/dev/null | head -n 1 || true)
  [ -n "$license" ] || license=$(value_of "$target/metadata.json" license)
  echo "$model is in $target."
  [ -z "$license" ] || case $license in
    *-nc*) echo "Its licence, $license, forbids commercial use." ;;
    *) echo "Its licence is $license." ;;
  esac
  echo "    nibu-translate --model=$model$flags \"$text\""
}

# unpack KIND ARCHIVE URL: unpacks an archive that lies in $work, and gives its contents the model's name. It refuses an
# archive with links, or with names that lead out of its folder.
unpack() {
  local kind=$1 archive=${2##*/} url=$3 names long only status
  damaged() {
    rm -rf -- "${work:?}/$archive" "$work/unpacked"
    fail "$url: it is not a whole archive; it was deleted, try again"
  }
  unwritable() {
    rm -rf -- "$work/unpacked"
    fail "$work/unpacked: cannot be written; is the disk full?"
  }
  # unzip reads the characters of patterns in an archive's path, so it is given a plain name.
  cd -- "$work" || exit 1
  rm -rf -- unpacked
  mkdir unpacked 2>/dev/null || unwritable
  case $kind in
    zip)
      command -v unzip >/dev/null || fail "there is no unzip, which $url needs; apt-get install unzip"
      names=$(unzip -Z1 "$archive" 2>/dev/null) || damaged
      long=$(unzip -Z "$archive" 2>/dev/null) || damaged
      need_space "$(unzip -Zt "$archive" | sed -n 's/.* \([0-9]*\) bytes uncompressed.*/\1/p')" ;;
    tar)
      names=$(tar -tzf "$archive" 2>/dev/null) || damaged
      long=$(tar -tvzf "$archive" 2>/dev/null) || damaged ;;
  esac
  if grep -qE '(^|[/\\])\.\.([/\\]|$)|^[/\\]' <<<"$names" || grep -q '^[lhbcps]' <<<"$long"; then
    rm -f -- "$archive"
    fail "$url: a name in it leads out of its folder, or is a link; it was not unpacked, but deleted"
  fi
  case $kind in
    zip)
      status=0
      unzip -q -o -P none "$archive" -d unpacked </dev/null >/dev/null 2>&1 || status=$?
      case $status in
        0 | 1) ;;
        50) unwritable ;;
        *) damaged ;;
      esac ;;
    # The whole archive could be read above.
    tar) tar -xzf "$archive" -C unpacked --no-same-owner --no-same-permissions 2>/dev/null || unwritable ;;
  esac
  [ -z "$(find unpacked ! -type f ! -type d -print -quit)" ] || fail "$url: it has links in it; they are refused"
  # A folder that is alone in the archive is the model.
  only=$(ls -A unpacked)
  if [ ! -d "unpacked/$only" ]; then only=""; fi
  cd / || exit 1
  if [ -z "$(find "$work/unpacked" -type f -regextype posix-extended \
    -regex '.*/(config\.json|[^/]*\.(bin|npz|nibu|pt|argosmodel)(\.gz)?)' -print -quit)" ]; then
    rm -rf -- "$work"
    fail "$url: there is no model in it (no config.json, *.bin, *.npz, *.nibu or *.pt); it was deleted"
  fi
  finish "$work/unpacked${only:+/$only}"
}
