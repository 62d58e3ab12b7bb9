# awk -v "installed=FILE FILE..." -f installed_links.awk DOCUMENT: writes a document as it is installed. A link to a
# file that is not installed becomes its text. All names count from the root of the source tree, whose layout the
# installed documents keep.

# Returns a path without "..".
function normal(path) {
  while (sub(/(^|\/)[^\/.]+\/\.\.\//, "/", path)) sub(/^\//, "", path)
  return path
}
BEGIN {
  RS = "\001"  # which no document has: links go over the ends of lines
  split(installed, files, " ")
  for (i in files) is_installed[files[i]] = 1
}
{
  folder = FILENAME
  sub(/[^\/]*$/, "", folder)
  while (match($0, /\[[^][]+\]\([^()# \n]+[^() \n]*\)/)) {
    link = substr($0, RSTART, RLENGTH)
    printf "%s", substr($0, 1, RSTART - 1)
    $0 = substr($0, RSTART + RLENGTH)
    split(link, half, /\]\(|[#)]/)
    keep = link ~ /:\/\// || normal(folder half[2]) in is_installed
    printf "%s", keep ? link : substr(half[1], 2)
  }
  printf "%s", $0
}
