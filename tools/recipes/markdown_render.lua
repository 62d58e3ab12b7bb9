-- Writes the translation of a text as Markdown.
local wrap = dofile((PANDOC_SCRIPT_FILE:match '^.*/' or '') .. 'markdown_wrap.lua')
local plain = { ['&lt;'] = '<', ['&gt;'] = '>', ['&amp;'] = '&', ['&quot;'] = '"', ['&#39;'] = "'", ['&apos;'] = "'" }

-- Returns the pieces { text, tag } of a translation, of which tags have what they stand for as text; nil if a tag is
-- missing or there twice.
local function pieces_of(text, html)
  for name in pairs(text.tight) do  -- ** bold** would not be bold
    html = html:gsub('(<' .. name:gsub('%-', '%%-') .. '>)(%s+)', '%2%1')
    html = html:gsub('(%s+)(</' .. name:gsub('%-', '%%-') .. '>)', '%2%1')
  end
  local pieces, at, found = {}, 1, {}
  while at <= #html do
    local tag = html:match('^<code id="nibu%-%d+">0</code>', at) or html:match('^<[%a/!?][^<>]*>', at)
    local reference = html:match('^&#?%w+;', at)
    local piece = tag or reference or html:match('^[<&]?[^<&]*', at)
    at = at + #piece
    if tag then
      if found[tag] and text.kept[tag] then return nil end
      found[tag] = true
      table.insert(pieces, { text = text.kept[tag] or tag, tag = tag })
    elseif reference and not plain[reference] then
      table.insert(pieces, { text = reference, tag = reference })
    else
      table.insert(pieces, { text = plain[piece] or piece })
    end
  end
  for tag in pairs(text.kept) do
    if not found[tag] then return nil end
  end
  for i = 2, #pieces do  -- **** would be no mark
    local name = (pieces[i].tag or ''):match '^</(nibu%-%d+)>$'
    if text.tight[name or ''] and pieces[i - 1].tag == '<' .. name .. '>' then
      pieces[i - 1].text, pieces[i].text = '', ''
    end
  end
  return pieces
end

-- Writes the characters of text as the source does: \* stays \*.
local function respell(text, pieces)
  local count, seen = {}, {}
  for _, piece in ipairs(pieces) do
    for c in (piece.tag and '' or piece.text):gmatch '%p' do count[c] = (count[c] or 0) + 1 end
  end
  for _, piece in ipairs(pieces) do
    piece.text = piece.tag and piece.text or piece.text:gsub('%p', function(c)
      seen[c] = (seen[c] or 0) + 1
      local spelled = text.spelled[c]
      if not spelled then return c:match '[\\*_`<|%[%]]' and '\\' .. c end
      if count[c] == #spelled then return spelled[seen[c]] end
      for _, spelling in ipairs(spelled) do
        if spelling ~= c then return spelling end
      end
    end)
  end
end

-- [text] refers to what is defined for its text, which is another one now.
local function refer(text, pieces)
  for i, piece in ipairs(pieces) do
    local reference = text.labels[piece.tag]
    if reference then
      local name, at = {}, i - 1
      while at > 0 and pieces[at].tag ~= reference.opening do
        table.insert(name, 1, pieces[at].text)
        at = at - 1
      end
      local label = reference.label:gsub('%s*[\r\n][%s>]*', ' ')
      if table.concat(name) ~= label then piece.text = '][' .. label .. ']' end
    end
  end
end

-- Returns Markdown for the HTML of a text of markdown_text.lua, or nil if marks are missing in it.
return function(text, html)
  local pieces = pieces_of(text, html)
  if not pieces then return nil end
  respell(text, pieces)
  refer(text, pieces)
  local result, line, number = {}, {}, 1
  local function finish()
    table.insert(result, wrap.rows(line, text.lines[number].breaks, text.lines[number].size))
    number, line = number + 1, {}
  end
  for _, piece in ipairs(pieces) do
    if piece.tag and piece.tag:match '^<br id="nibu%-' then
      finish()
      table.insert(result, piece.text)
    else
      table.insert(line, piece)
    end
  end
  finish()
  local markdown = table.concat(result)
  if wrap.starts_block(markdown) and not wrap.starts_block(text:slice(text.first, text.last)) then
    markdown = markdown:gsub('^(%d*)(.)', '%1\\%2', 1)
  end
  return markdown
end
