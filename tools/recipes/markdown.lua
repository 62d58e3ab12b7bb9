-- Translates the texts of the Markdown file $SOURCE in their places, so that all else stays byte for byte: writes them
-- to the file $TEXTS, one a line as HTML, or with those of the file $TRANSLATIONS the document to the file $RESULT.
local function open(name, mode) return os.getenv(name) and assert(io.open(os.getenv(name), mode)) end
local texts, translations = open('TEXTS', 'wb'), open('TRANSLATIONS', 'rb')
local source = open('SOURCE', 'rb'):read 'a'
local function load(name) return dofile((PANDOC_SCRIPT_FILE:match '^.*/' or '') .. 'markdown_' .. name .. '.lua') end
local read, to_text, render = load 'read', load 'text', load 'render'

local function warn(text, why)
  local line = select(2, source:sub(1, text.first):gsub('\n', '')) + 1
  io.stderr:write('document.sh: warning: line ', line, ' of the source stays as it is: ', why, '\n')
end

-- Returns the range of what inlines hold and what is to stand there, or nil if nothing changes.
local function translate(inlines)
  local text = to_text(source, inlines)
  if not text then return nil end
  for _, image in ipairs(text.images) do
    local first, last, description = translate(image.content)
    image.result = first and text:slice(image.from, first) .. description .. text:slice(last, image.to)
  end
  local first, last = text.first, text.last
  local original, html = text:slice(first, last), text.html
  if render(text, html) ~= original then
    if texts then warn(text, 'pandoc reads its marks in another way') end
    return nil
  end
  for _, image in ipairs(text.images) do text.kept[image.tag] = image.result or text.kept[image.tag] end
  local letters = html:gsub('<[^<>]*>', ''):gsub('&#?%w+;', '')
  local drawn = text.drawn or original:match '%+[-=+]+%+'  -- a table or picture
  if drawn or not letters:match '[%a\x80-\xff]' then
    return first, last, render(text, html)
  elseif texts then
    texts:write(html, '\n')
    return nil
  end
  local line = assert(translations:read 'l', 'fewer lines came out than went in')
  local result = render(text, line:match '%S' and line or html)
  if not result then warn(text, 'marks are missing in the translation') end
  return result and first, last, result
end

function Pandoc()
  local result, at = {}, 1
  for _, inlines in ipairs(read(source)) do
    local first, last, translation = translate(inlines)
    if first then
      table.insert(result, source:sub(at, first - 1) .. translation)
      at = last
    end
  end
  if translations then open('RESULT', 'wb'):write(table.concat(result), source:sub(at)) end
  return pandoc.Pandoc {}
end
