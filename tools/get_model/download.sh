# shellcheck shell=bash disable=SC2034,SC2154
# Sourced by get_model.sh: downloads that go on where they stopped, and lists in JSON.

# json FILE: prints each value of a JSON document in a line: the keys that lead to it with slashes between them, a tab,
# and the value. The entries of a list count from 0. It fails unless the document is a whole object or list.
json() {
  # grep prints a token in each line; awk keeps a stack of the objects and lists that are open.
  grep -aoE '"([^"\\]|\\.)*"|[][{}:,]|[^][{}:,"[:space:]]+' "$1" | awk '
    function text(token) {
      if (token !~ /^"/) return token
      token = substr(token, 2, length(token) - 2)
      gsub(/\\\//, "/", token)
      gsub(/\\"/, "\"", token)
      gsub(/\\\\/, "\\", token)
      return token
    }
    NR == 1 && $0 != "{" && $0 != "[" { bad = 1; exit }
    $0 == "{" || $0 == "[" { kind[++depth] = $0; key[depth] = 0; has_key[depth] = 0; next }
    $0 == "}" || $0 == "]" {
      if (kind[depth] != ($0 == "}" ? "{" : "[")) { bad = 1; exit }
      --depth
      next
    }
    $0 == "," { ++key[depth]; has_key[depth] = 0; next }
    $0 == ":" { next }
    kind[depth] == "{" && !has_key[depth] { key[depth] = text($0); has_key[depth] = 1; next }
    {
      path = key[1]
      for (i = 2; i <= depth; ++i) path = path "/" key[i]
      print path "\t" text($0)
    }
    END { exit bad || depth != 0 || NR == 0 }'
}

# records FIELD...: prints a line for each object of the list in $tmp/list: these fields of it with tabs between them,
# "-" for a field that it does not have.
records() {
  awk -F '\t' -v fields="$*" '
    {
      field = $1
      sub(/^[0-9]+\//, "", field)
      value[$1 + 0, field] = $2
      if ($1 + 0 > last) last = $1 + 0
    }
    END {
      count = split(fields, names, " ")
      for (i = 0; i <= last; ++i) {
        for (j = 1; j <= count; ++j) {
          printf "%s%s", (i, names[j]) in value ? value[i, names[j]] : "-", j < count ? "\t" : "\n"
        }
      }
    }' "$tmp/list"
}

# forget PART: removes a file that was fetched in part, and what the server said of it.
forget() { rm -f -- "$1" "$1.headers" "$1.new"; }

# keep_headers PART: prepares for another try. PART.headers has the headers of the answer that PART's bytes came with,
# and PART.new those of the last try's answer, which may have been interrupted at any time.
keep_headers() {
  local part=$1 code=""
  [ ! -f "$part.new" ] || code=$(sed -n 's,^HTTP/[0-9.]* \([0-9]*\).*,\1,p' "$part.new" | tail -n 1)
  case $code in
    206) mv -f -- "$part.new" "$part.headers" ;;
    200)
      # A whole file in answer to a request for the rest of it: PART has bytes of a file that has changed.
      if [ -f "$part.headers" ]; then forget "$part"; else mv -f -- "$part.new" "$part.headers"; fi ;;
    *) rm -f -- "$part.new" ;;  # No answer, an error or a redirect.
  esac
}

# run_curl ARGUMENT...: runs curl in the background, because a signal interrupts `wait`, but no command in the
# foreground. It sets $answer to the status of HTTP, a blank and curl's message, and returns curl's status.
run_curl() {
  local status=0
  curl --write-out '%{http_code} %{errormsg}' "$@" >"$tmp/answer" &
  wait "$!" || status=$?
  answer=$(cat -- "$tmp/answer")
  return "$status"
}

# fetch URL FILE [SIZE [SHA256]]: downloads a file, and goes on where an earlier call stopped. FILE appears when it is
# whole and has this size and checksum; one that is there and has others is fetched again. $page is an address for the
# messages, where a person can look.
fetch() {
  local url=$1 file=$2 size=${3:-} sum=${4:-} part="$2.part" redirects='=http,https' status answer code have try etag
  local -a options
  ! is_file "$file" "$size" "$sum" || return 0  # Only whole files have their names.
  rm -f -- "$file" 2>/dev/null || fail "$file: there is a folder in the file's place; remove it"
  [ ! -d "$part" ] || fail "$part: there is a folder in the file's place; remove it"
  [[ $url != https:* ]] || redirects='=https'
  for try in 1 2 3; do
    keep_headers "$part"
    have=$(stat -c %s -- "$part" 2>/dev/null || echo 0)
    if [ -n "$size" ] && [ "$have" -gt "$size" ]; then
      forget "$part"
      have=0
    fi
    if [ -n "$size" ] && [ "$have" -eq "$size" ]; then break; fi
    options=(--fail --location --proto '=http,https' --proto-redir "$redirects" --suppress-connect-headers
      --connect-timeout 30 --speed-limit 1 --speed-time 60)
    if [ -t 2 ]; then options+=(--progress-bar); else options+=(--silent); fi
    if [ "$have" -gt 0 ]; then
      options+=(--continue-at -)
      touch -- "$part.headers"
      # A file that has changed since is fetched from its beginning.
      etag=$(sed -n 's/^etag: *\("[^"]*"\).*/\1/Ip' "$part.headers" | tail -n 1)
      [ -z "$etag" ] || options+=(--header "If-Range: $etag")
    else
      rm -f -- "$part.headers"
    fi
    status=0
    run_curl "${options[@]}" --dump-header "$part.new" --output "$part" -- "$url" || status=$?
    code=${answer%% *}
    # curl accepts a whole file in answer to a request for the rest of it if it has just the size of the part.
    if [ "$status" -eq 0 ] && [ "$code" = 200 ] && [ "$have" -gt 0 ]; then status=33; fi
    case $status in
      0) [ -f "$part" ] || : >"$part"; break ;;
      33) forget "$part" ;;  # The server sends whole files only, or another file by now.
      22)
        case $code in
          416) forget "$part" ;;  # The part is not shorter than the file.
          401 | 403 | 404) [ -z "$not_there" ] || fail "$not_there" ;;&
          401 | 403) fail "$url: it needs a login or a consent (HTTP $code); see $page" ;;
          404 | 410) fail "$url: there is no such file (HTTP $code); look at $page" ;;
          429 | 5??) sleep "$try" ;;
          *) fail "$url: the server refuses it (HTTP $code); look at $page" ;;
        esac ;;
      18 | 28 | 52 | 55 | 56 | 92) sleep "$try" ;;  # The connection broke.
      23) fail "$part: cannot be written; is the disk full?" ;;
      *) fail "$url: cannot be fetched: ${answer#* }; look at $page" ;;
    esac
    [ "$try" -lt 3 ] || fail "$url: the download was interrupted (${answer#* }); the same command goes on with it"
  done
  have=$(stat -c %s -- "$part")
  if [ -n "$size" ] && [ "$have" -ne "$size" ]; then
    forget "$part"
    fail "$url: it has $have bytes, not $size as the list says; it was deleted, try again or look at $page"
  fi
  check_sum "$part" "$sum" "$url"
  rm -f -- "$part.headers" "$part.new"
  mv -- "$part" "$file"
}

# is_file FILE [SIZE [SHA256]]: whether there is a file of this size and checksum. An empty one stands for any.
is_file() {
  [ -f "$1" ] || return 1
  [ -z "${2:-}" ] || [ "$(stat -c %s -- "$1")" -eq "$2" ] || return 1
  [ -z "${3:-}" ] || [ "$(sha256sum <"$1" | cut -d ' ' -f 1)" = "$3" ]
}

# check_sum FILE SHA256 URL: deletes a file that has another checksum, and fails. An empty SHA256 stands for any.
check_sum() {
  ! is_file "$1" "" "$2" || return 0
  forget "$1"
  fail "$3: its checksum is wrong; it was deleted, try again or look at $page"
}

# refuse_page FILE URL: deletes a file that is a web page or a pointer of Git LFS, and fails.
refuse_page() {
  local what
  case $(head -c 200 -- "$1" | tr -d '\0' | tr '[:upper:]' '[:lower:]') in
    '<!doctype html'* | '<html'*) what="a web page" ;;
    'version https://git-lfs'*) what="a pointer of Git LFS" ;;
    *) return 0 ;;
  esac
  rm -f -- "$1"
  fail "$2: it is $what, not the file itself"
}

# value_of FILE KEY: prints a value of a JSON file, or nothing.
value_of() { json "$1" 2>/dev/null | sed -n "s/^$2$tab//p" | head -n 1 || true; }

# value_in_list KEYS: prints a value of $tmp/list, or nothing.
value_in_list() { awk -F '\t' -v key="$1" '$1 == key { print $2; exit }' "$tmp/list"; }

no_list() { fail "$1: it is not the list of models that it should be; look at $page"; }

# fetch_list URL: downloads a list of models or files, and writes its values into $tmp/list as json prints them.
fetch_list() {
  rm -f -- "$tmp/list.json"
  fetch "$1" "$tmp/list.json"
  json "$tmp/list.json" >"$tmp/list" 2>/dev/null || no_list "$1"
}
