# Texts of subtitles' cues: to the file `texts`, a unit a line, or back from `translations`, in as many rows as before.
function columns(text) {
  gsub(/<[A-Za-z\/][^>]*>|[\200-\277]/, "", text)
  return length(text)
}

function wrap(text, rows,  i, c, tag, best, column, distance, goal) {
  for (; rows > 1; rows--) {
    tag = best = column = 0
    goal = columns(text) / rows
    for (i = 1; i <= length(text); i++) {
      c = substr(text, i, 1)
      if (c == "<") tag = substr(text, i + 1, 1) ~ /[A-Za-z\/]/
      if (!tag && c !~ /[\200-\277]/) column++
      if (c == ">") tag = 0
      if (c != " " || tag || (best && (column - goal) ^ 2 >= distance)) continue
      best = i
      distance = (column - goal) ^ 2
    }
    if (!best) break
    print substr(text, 1, best - 1) cr
    text = substr(text, best + 1)
  }
  print text cr
}

# Speakers' dashes stay in front, and so does what places the cue.
function finish(  i, text, rows, target, front) {
  for (i = 1; i <= lines; i += rows) {
    text = line[i]
    for (rows = 1; i + rows <= lines && line[i + rows] !~ /^(<[^>]*>)*-/; rows++) text = text " " line[i + rows]
    match(text, /^(\{\\[^}]*\})*((<[^>]*>)*- *)?/)
    front = substr(text, 1, RLENGTH)
    text = substr(text, RLENGTH + 1)
    # No words, or what markup would not let end with the cue.
    if (text !~ /[A-Za-z\200-\377]/ || tolower(text) ~ /<(!|\?|(code|math|pre|script|style|svg|textarea|title)[ >])/) {
      wrap(front text, rows)
    } else if (texts) {
      print text >texts
    } else if ((getline target <translations) <= 0) {
      print "cues.awk: error: fewer lines came out than went in" >"/dev/stderr"
      exit failed = 1
    } else {
      wrap(front (target ~ /[^ ]/ ? target : text), rows)
    }
  }
  lines = 0
}

BEGIN { if (texts) printf "" >texts }
{ cr = sub(/\r$/, "") ? "\r" : "" }
/-->/ {  # some files have no blank line before the next cue's number
  number = lines && line[lines] ~ /^[0-9]+$/ ? line[lines--] cr "\n" : ""
  finish()
  printf "%s", number
  cue = 1
}
cue && !/-->/ && /[^ \t]/ { line[++lines] = $0; next }
{ finish(); cue = /-->/; print $0 cr }
END { if (!failed) finish(); exit failed }
