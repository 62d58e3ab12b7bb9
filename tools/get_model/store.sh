# shellcheck shell=bash disable=SC2034,SC2154
# Sourced by get_model.sh: the folder of models. A model is fetched into $models/.NAME.part, where an interrupted
# download stays for the next call, and gets its name when it is whole.

# begin NAME ORIGIN: sets $target, where the model will lie, and $work, the folder for its files until all have come.
# Ends the program if the model is there already.
begin() {
  model=${wanted_name:-$1} origin=$2
  is_name "$model" || wrong_usage "\"$model\" cannot be a model's name; give one with --name"
  mkdir -p -- "$models" || fail "$models: cannot be made; NIBU_MODELS can name another folder"
  models=$(cd -- "$models" && pwd)
  target="$models/$model" work="$models/.$model.part"
  is_there
  mkdir -p -- "$work" || fail "$work: cannot be made; NIBU_MODELS can name another folder"
  exec 9<"$work"
  if ! flock -n 9; then
    work=""
    fail "$model: another $program is fetching it"
  fi
  is_there
  # Files from another place do not belong to this model.
  if [ "$(cat -- "$work/origin.txt" 2>/dev/null)" != "$origin" ]; then
    find "$work" -mindepth 1 -delete
    echo "$origin" >"$work/origin.txt"
  fi
}

# Ends the program if the model is there already, and fails if another one has its name.
is_there() {
  [ -e "$target" ] || return 0
  local there=$origin
  [ ! -f "$target/origin.txt" ] || there=$(cat -- "$target/origin.txt")
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
  if [ -d "$whole" ] && [ "$whole" != "$work" ]; then mv -- "$work/origin.txt" "$whole/"; fi
  mv -T -- "$whole" "$target" || fail "$target: cannot be made"
  rm -rf -- "$work"
  describe
}

# Prints how to translate with a model that is there.
describe() {
  local flags="" text="A dog runs." license="" type="" example
  type=$(value_of "$target/config.json" model_type)
  case $type in
    m2m_100 | mbart) flags=" --src_lang=en --tgt_lang=fr" ;;
    t5 | mt5)
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
  local kind=$1 archive=${2##*/} url=$3 names long only
  damaged() {
    rm -f -- "$work/$archive"
    fail "$url: it is not a whole archive; it was deleted, try again"
  }
  # unzip reads the characters of patterns in an archive's path, so it is given a plain name.
  cd -- "$work" || exit 1
  rm -rf -- unpacked
  mkdir unpacked
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
    zip) unzip -q -o -P none "$archive" -d unpacked </dev/null >/dev/null 2>&1 || [ "$?" -eq 1 ] || damaged ;;
    tar) tar -xzf "$archive" -C unpacked --no-same-owner --no-same-permissions 2>/dev/null || damaged ;;
  esac
  [ -z "$(find unpacked ! -type f ! -type d -print -quit)" ] || fail "$url: it has links in it; they are refused"
  # A folder that is alone in the archive is the model.
  only=$(ls -A unpacked)
  if [ ! -d "unpacked/$only" ]; then only=""; fi
  cd / || exit 1
  finish "$work/unpacked${only:+/$only}"
}
