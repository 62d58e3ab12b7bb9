# awk -v name=NAME -v about=TEXT -v version=VERSION -f reference_page.awk HEADER...: writes the man page NAME(3) of
# public headers: each declaration, and below it the comment in front of it or behind it. It relies on the layout that
# clang-format gives them. Private members, bodies of functions and what is internal are left out.

# Returns a line as roff reads it.
function roff(text) {
  gsub(/\\/, "\\e", text)
  gsub(/-/, "\\-", text)
  return text ~ /^[.']/ ? "\\&" text : text
}
# Prints the declarations and the comment that have been read since the last call.
function flush(  i, line, start, sample) {
  if (codes) print ".PP\n.nf"
  for (i = 1; i <= codes; ++i) {
    for (line = code[i]; length(line) > 72; line = "        " substr(line, RLENGTH + 1)) {
      start = substr(line, 1, 72)
      if (!match(start, /.*[^ ], /) && !match(start, /.*[(]/)) match(start, /.* /)
      print "\\fB" roff(substr(line, 1, RLENGTH)) "\\fR"
    }
    print "\\fB" roff(line) "\\fR"
  }
  if (codes) print ".fi"
  if (comments) print codes ? ".RS 4" : ".PP"
  for (i = 1; i <= comments; ++i) {
    line = comment[i]
    if (line == "") {
      print sample ? "" : ".PP"
      continue
    }
    # Samples and lists are indented, and keep their lines.
    if ((line ~ /^  /) != sample) {
      sample = !sample
      print sample ? ".nf" : ".fi"
    }
    print roff(line)
  }
  if (sample) print ".fi"
  if (codes && comments) print ".RE"
  codes = comments = 0
}
BEGIN { print ".TH " name " 3 \"\" \"nibu " version "\"\n.SH NAME\n" name " \\- " about "\n.nh\n.ad l" }
FNR == 1 {
  header = FILENAME
  sub(/.*\//, "nibu/", header)
  print ".SH " header
}
# `skipped` is how the last line of a part begins that is left out. `depth` counts the classes around a line.
{ match($0, /^ */); indent = RLENGTH; line = substr($0, indent + 1) }
skipped { if ($0 ~ skipped) skipped = ""; next }
line == "" && !in_comment { flush(); next }
match(line, /^\/\* -+ /) { flush(); sub(/ -+ \*\/$/, "", line); print ".SH " substr(line, RLENGTH + 1); next }
# A comment belongs to the declarations behind it, up to the next comment or blank line.
in_comment || line ~ /^\/[\/*]/ {
  if (codes && !in_comment) flush()
  if (!in_comment) mark = indent + 3
  in_comment = in_comment ? 1 : line ~ /^\/\*/
  comment[++comments] = substr($0, mark + 1)
  sub(/ *\*\/$/, "", comment[comments])
  if ($0 ~ /\*\/$/) in_comment = 0
  next
}
line ~ /^#(define .*_H_$|define NIBU_EXPORT|if|el|end|incl)/ { next }
line ~ /^(extern "C"|namespace nibu|public:)/ { next }
line ~ /(^}  \/\/ namespace.*| = delete;)$/ || (line == "}" && !depth) { next }
line == "private:" || line ~ /^namespace internal/ { flush(); skipped = "^}" }
line == "private:" { print ".RE"; --depth }
skipped { next }
line ~ /^};?$/ { flush(); print ".RE"; --depth; next }
{
  sub(/^NIBU_EXPORT /, "", line)
  sub(/ NIBU_EXPORT /, " ", line)
  sub(/ *\\$/, "", line)
  behind = match(line, / +(\/\/|\/\*) /) ? substr(line, RSTART + RLENGTH) : ""
  if (behind) line = substr(line, 1, RSTART - 1)
  sub(/ *\*\/$/, "", behind)
  opens = line ~ /^(class|struct|enum)[^(;]*[{]$/
  if (!opens && line ~ /[^=] [{]$/) skipped = "^" substr($0, 1, indent) "}"
  if (line ~ /[^=] [{]$/) line = substr(line, 1, length(line) - 2) (opens ? "" : ";")
  # A line that is indented further goes on with the declaration in front of it.
  joins = indent > 2 * depth && codes
  if (behind && codes && !joins) flush()
  if (joins) code[codes] = code[codes] (code[codes] ~ /[(]$/ ? "" : " ") line
  else code[++codes] = line
  if (behind) comment[++comments] = behind
  if (behind || opens || skipped) flush()
  if (opens) { print ".RS 4"; ++depth }
}
END { flush() }
