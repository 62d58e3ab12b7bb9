-- Texts of a pandoc document: to the file $TEXTS, one a line as HTML, or back from the file $TRANSLATIONS.
local texts = os.getenv 'TEXTS' and assert(io.open(os.getenv 'TEXTS', 'w'))
local translations = not texts and assert(io.open(os.getenv 'TRANSLATIONS'))

-- What is no text leaves as <img src="nibu-N" />, a pair of raw tags as <span id="nibu-N">; kept[N] is what it was.
local function to_html(inlines)
  local kept = {}
  local function keep(x)
    kept[#kept + 1] = x
    return pandoc.Image({}, 'nibu-' .. #kept), false
  end
  local function pair_tags(list)
    local open = {}
    for i, x in ipairs(list) do
      local slash, name = (x.t == 'RawInline' and x.text or ''):match '^<(/?)(%w+)'
      if slash == '' then
        table.insert(open, { i, name })
      elseif slash then
        local at = 0
        while #open > 0 and at == 0 do
          local last = table.remove(open)
          if last[2] == name then at = last[1] end
        end
        if at > 0 then
          kept[#kept + 1] = { list[at], x }
          list[at] = pandoc.RawInline('html5', '<span id="nibu-' .. #kept .. '">')
          list[i] = pandoc.RawInline('html5', '</span>')
        end
      end
    end
    return list
  end
  local plain = pandoc.Plain(inlines):walk {
    traverse = 'topdown',
    Inlines = pair_tags,
    Image = keep, Note = keep, Math = keep, Cite = keep,
    RawInline = function(x) if x.format ~= 'html5' then return keep(x) end end,
    Link = function(x)  -- <https://...>
      if pandoc.utils.stringify(x.content) == x.target or x.target:match '^mailto:' then return keep(x) end
    end,
  }
  return pandoc.write(pandoc.Pandoc { plain }, 'html'):gsub('%s*\n%s*', ' '), kept
end

local function from_html(html, kept)
  local function kept_of(name) return kept[tonumber((name:match '^nibu%-(%d+)$'))] end
  return pandoc.utils.blocks_to_inlines(pandoc.read(html, 'html').blocks):walk {
    Image = function(x) return kept_of(x.src) end,
    Span = function(x)
      local tags = kept_of(x.identifier)
      return tags and pandoc.Inlines { tags[1] } .. x.content .. { tags[2] }
    end,
    Inlines = function(list)  -- Markdown cannot tell two codes side by side from one
      for i = #list, 2, -1 do
        if list[i].t == 'Code' and list[i - 1].t == 'Code' then list:insert(i, pandoc.Space()) end
      end
      return list
    end,
  }
end

local function translate(inlines)
  local first = inlines[1]
  local text = first and first.text or ''
  if text == '☐' or text == '☒' or text:match '^%[!%a+%]$' then  -- a task's box, > [!NOTE]
    local rest = inlines:clone()
    rest:remove(1)
    local space = rest:remove(1)
    return pandoc.Inlines { first, space } .. translate(rest)
  end
  local html, kept = to_html(inlines)
  if texts then
    texts:write(html, '\n')
    return inlines
  end
  local line = assert(translations:read 'l', 'fewer lines came out than went in')
  return line:match '%S' and from_html(line, kept) or inlines
end

local function block(x)
  x.content = translate(x.content)
  return x
end

-- Word's footnotes begin with a mark, of which pandoc writes its own.
local function unmark(note)
  return note:walk {
    Div = function(x) return x.content end,
    Span = function(x) if #x.content == 0 and x.attributes['custom-style'] then return {} end end,
  }
end

function Pandoc(doc)
  doc = doc:walk { Note = unmark }
  for _, name in ipairs { 'title', 'subtitle', 'abstract' } do
    if pandoc.utils.type(doc.meta[name]) == 'Inlines' then doc.meta[name] = translate(doc.meta[name]) end
  end
  doc = doc:walk {
    Image = function(x)
      if #x.caption > 0 then x.caption = translate(x.caption) end
      return x
    end,
    Para = block, Plain = block, Header = block,
  }
  if not FORMAT:match '^gfm' then return doc end
  local function escape(x)  -- pandoc does not, in a table's code
    if x.text:match '|' and not x.text:match '`' then
      return pandoc.RawInline('markdown', '`' .. x.text:gsub('|', '\\|') .. '`')
    end
  end
  return doc:walk { Table = function(x) return x:walk { Code = escape } end }
end
