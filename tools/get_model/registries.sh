# shellcheck shell=bash disable=SC2034,SC2154
# Sourced by get_model.sh: where models are published, and which of their files nibu needs.

# hugging_face OWNER/NAME: fetches a repository's files that nibu reads, and no other ones.
hugging_face() {
  local repository=$1 base=${HF_ENDPOINT:-https://huggingface.co} path size sum type total=0 weights
  local -a wanted=() rest=()
  base=${base%/}
  page="https://huggingface.co/$repository"
  begin "${repository##*/}" "Hugging Face: $repository"
  not_there="$repository: Hugging Face has no such model, or it needs a login; look at https://huggingface.co/${repository%%/*}"
  fetch_list "$base/api/models/$repository/tree/main?recursive=true"
  not_there=""
  # A pipe into grep -q could break, which would count as a failure.
  records type path size lfs/oid oid | sed -n "s/^file$tab//p" >"$tmp/files"
  cut -f 1 "$tmp/files" >"$tmp/names"
  has() { grep -qxE "$1" "$tmp/names"; }
  if has 'model\.safetensors'; then weights='model\.safetensors'
  elif has 'model\.safetensors\.index\.json'; then weights='model\.safetensors\.index\.json|model-[0-9]+-of-[0-9]+\.safetensors'
  elif has 'pytorch_model\.bin'; then weights='pytorch_model\.bin'
  elif has 'pytorch_model\.bin\.index\.json'; then weights='pytorch_model\.bin\.index\.json|pytorch_model-[0-9]+-of-[0-9]+\.bin'
  else fail "$repository: it has no model.safetensors and no pytorch_model.bin, which nibu reads; look at $page"
  fi
  has 'config\.json' || fail "$repository: it has no config.json, so it is no model that nibu reads; look at $page"
  rest=('(generation_|tokenizer_)?config\.json' 'special_tokens_map\.json' 'added_tokens\.json' '(target_)?vocab\.json'
    '(source|target)\.spm' 'sentencepiece\.bpe\.model' 'spiece\.model' 'README\.md' 'LICENSE')
  ! has 'sentencepiece\.bpe\.model' || rest+=('tokenizer\.json')  # It lists the languages.
  for path in "${rest[@]}" "$weights"; do
    mapfile -t -O "${#wanted[@]}" wanted < <(grep -E "^($path)$tab" "$tmp/files" || true)
  done
  version "$(printf '%s\n' "${wanted[@]}" | sha256sum | cut -d ' ' -f 1)"
  for path in "${wanted[@]}"; do
    IFS=$'\t' read -r path size sum _ <<<"$path"
    [[ $size =~ ^[0-9]+$ ]] || fail "$repository: the list of its files has no size for $path; look at $page"
    is_file "$work/$path" "$size" || total=$((total + size))
  done
  need_space "$total"
  note "fetching $repository, ${#wanted[@]} files, $(megabytes "$total")"
  for path in "${wanted[@]}"; do
    IFS=$'\t' read -r path size sum _ <<<"$path"
    fetch "$base/$repository/resolve/main/$path" "$work/$path" "$size" "${sum#-}"
    [ "$path" = config.json ] || continue
    type=$(value_of "$work/config.json" model_type)
    case $type in marian | m2m_100 | mbart | t5 | mt5) ;; *)
      rm -rf -- "$work"
      fail "$repository: its model_type, \"$type\", is none of those that nibu reads; look at $page"
    esac
  done
  finish
}

# near_pairs PAIR: prints, in one line, the pairs of standard input that share a language with PAIR.
near_pairs() {
  local pairs
  pairs=$(grep -E "^${1%%-*}-|-${1#*-}$" | sort -u | head -n 12 | paste -sd ' ' | sed 's/ /, /g' || true)
  echo "${pairs:+; near it are $pairs}"
}

# firefox [PAIR]: fetches the best model of a pair of languages, or prints all pairs.
firefox() {
  local pair=${1:-} registry=${NIBU_FIREFOX_REGISTRY:-} base number kind path sum url file from to
  page="https://mozilla.github.io/translations/model-registry/"
  registry=${registry:-https://storage.googleapis.com/moz-fx-translations-data--303e-prod-translations-data/db/models.json}
  [ -z "$pair" ] || begin "firefox-$pair" "Firefox: $pair"
  fetch_list "$registry"
  sed -n 's,^models/\([A-Za-z]*\(-[A-Za-z]*\)*\)/.*,\1,p' "$tmp/list" | sort -u >"$tmp/pairs"
  base=$(sed -n "s/^baseUrl$tab//p" "$tmp/list")
  if [ -z "$base" ] || [ ! -s "$tmp/pairs" ]; then no_list "$registry"; fi
  [ -n "$pair" ] || { cat "$tmp/pairs"; exit 0; }
  # A released model is better than another one, and a larger architecture better than tiny.
  number=$(awk -F '[\t/]' -v pair="$pair" '
    $1 == "models" && $2 == pair && $4 == "releaseStatus" { rank[$3] += $5 == "Release" ? 0 : $5 ~ /^Release/ ? 2 : 4 }
    $1 == "models" && $2 == pair && $4 == "architecture" { rank[$3] += $5 ~ /^tiny/ }
    END {
      best = ""
      for (i in rank) if (best == "" || rank[i] < rank[best] || (rank[i] == rank[best] && i + 0 < best + 0)) best = i
      print best
    }' "$tmp/list")
  if [ -z "$number" ]; then
    fail "firefox $pair: there is no such pair$(near_pairs "$pair" <"$tmp/pairs"); $program firefox lists all"
  fi
  if [ -z "$(value_in_list "models/$pair/$number/files/model/path")" ]; then
    fail "$registry: it has no file for $pair; look at $page"
  fi
  # The paths and checksums of this model's files tell its versions apart.
  version "$(grep -E "^models/$pair/$number/files/[^/]+/(path|.*[Hh]ash)$tab" "$tmp/list" | sha256sum | cut -d ' ' -f 1)"
  note "fetching the model $pair of Firefox"
  for kind in model lexicalShortlist vocab srcVocab trgVocab; do
    path=$(value_in_list "models/$pair/$number/files/$kind/path")
    sum=$(value_in_list "models/$pair/$number/files/$kind/uncompressedHash")
    [ -n "$path" ] || continue
    url="${base%/}/$path" file=${path##*/}
    is_name "$file" || fail "$registry: \"$path\" is no name of a file; look at $page"
    ! is_file "$work/${file%.gz}" "" "$sum" || continue
    fetch "$url" "$work/$file"
    # Files are kept uncompressed: they are mapped into memory, so that a model loads at once.
    if [[ $file == *.gz ]]; then
      if ! { gzip -dc <"$work/$file" >"$work/${file%.gz}.part"; } 2>/dev/null; then
        rm -f -- "$work/${file%.gz}.part"
        ! gzip -t <"$work/$file" 2>/dev/null || fail "$work/${file%.gz}: cannot be written; is the disk full?"
        rm -f -- "$work/$file"
        fail "$url: it is not a whole gzip file; it was deleted, try again or look at $page"
      fi
      rm -f -- "$work/$file"
      check_sum "$work/${file%.gz}.part" "$sum" "$url"
      mv -- "$work/${file%.gz}.part" "$work/${file%.gz}"
    elif [ -n "$sum" ]; then
      check_sum "$work/$file" "$sum" "$url"
    fi
  done
  from=$(value_in_list "models/$pair/$number/sourceLanguage") to=$(value_in_list "models/$pair/$number/targetLanguage")
  write "$work/metadata.json" "{\"sourceLanguage\": \"${from:-${pair%%-*}}\", \
\"targetLanguage\": \"${to:-${pair#*-}}\", \"license\": \"MPL-2.0\"}"
  finish
}

# argos [PAIR]: fetches the newest package of a pair of languages, or prints all pairs.
argos() {
  local pair=${1:-} index=${NIBU_ARGOS_INDEX:-https://raw.githubusercontent.com/argosopentech/argospm-index/main/index.json}
  local url file
  page="https://www.argosopentech.com/argospm/index/"
  [ -z "$pair" ] || begin "argos-$pair" "Argos Translate: $pair"
  fetch_list "$index"
  # Each line has a pair, a version and an address; the last line of a pair has its newest package. An entry without an
  # address has no package.
  records from_code to_code package_version links/0 | sed -n "/^-$tab/d; /$tab-\$/d; s/$tab/-/p" |
    sort -t "$tab" -k 1,1 -k 2,2V >"$tmp/packages"
  cut -f 1 "$tmp/packages" | sort -u >"$tmp/pairs"
  [ -s "$tmp/pairs" ] || no_list "$index"
  [ -n "$pair" ] || { cat "$tmp/pairs"; exit 0; }
  url=$(awk -F '\t' -v pair="$pair" '$1 == pair { url = $3 } END { print url }' "$tmp/packages")
  if [ -z "$url" ]; then
    fail "argos $pair: there is no such pair$(near_pairs "$pair" <"$tmp/pairs"); $program argos lists all"
  fi
  version "$url"
  note "fetching the package $pair of Argos Translate"
  file="$work/argos-$pair.argosmodel"
  fetch "$url" "$file"
  refuse_page "$file" "$url"
  if grep -qa 'bpe\.model' "$file" && ! grep -qa 'sentencepiece\.model' "$file"; then
    note "argos $pair: its bpe.model is for text that Moses' tokenizer has split; firefox $pair or opus-mt-$pair takes any"
  fi
  # nibu reads the zip file as it is; unpacked it loads faster.
  if command -v unzip >/dev/null; then
    unpack zip "$file" "$url"
  else
    finish
  fi
}

# from_url URL: fetches a repository of Hugging Face by its page's address, an archive or a file.
from_url() {
  local url=$1 path=${1%%[?#]*} file base=${HF_ENDPOINT:-https://huggingface.co}
  page=${url%/*}/
  if [[ $path =~ ^https?://(www\.)?huggingface\.co/([^/]+/[^/]+)(/tree/main)?/?$ ]] ||
    [[ $path =~ ^("${base%/}")/([^/]+/[^/]+)(/tree/main)?/?$ ]]; then
    hugging_face "${BASH_REMATCH[2]}"
    return
  fi
  file=${path##*/}
  is_name "$file" || wrong_usage "$url: it does not end in the name of a file"
  model=${file%.zip}
  model=${model%.argosmodel}
  model=${model%.tar.gz}
  model=${model%.tgz}
  # All of OPUS-MT's archives are called opus-DATE.zip, in a folder for each pair.
  if [[ $path =~ /([A-Za-z_]+-[A-Za-z_+]+)/opus[^/]*\.zip$ ]]; then model="marian-${BASH_REMATCH[1]//+/_}-${model#opus-}"; fi
  begin "$model" "$url"
  note "fetching $url"
  fetch "$url" "$work/$file"
  refuse_page "$work/$file" "$url"
  case $file in
    *.zip | *.argosmodel) unpack zip "$work/$file" "$url" ;;
    *.tar.gz | *.tgz) unpack tar "$work/$file" "$url" ;;
    *) finish "$work/$file" ;;
  esac
}
