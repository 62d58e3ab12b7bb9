-- A text is what a paragraph, a heading, a cell or a description of an image holds. It has
--   html: what is to be translated, on one line;
--   kept: what the tags in it stand for; images: those of them that are images, as { tag, from, to, content };
--   labels: the closing tags of links that are named by what they enclose;
--   tight: the names of tags that blanks may not touch;
--   spelled: how each sign is written, in the order of the source;
--   lines: for what is between hard breaks, its size in bytes and its breaks { at, text, before, after };
--   drawn: whether blanks make columns; first, last: the range in the source.
local wrap = dofile((PANDOC_SCRIPT_FILE:match '^.*/' or '') .. 'markdown_wrap.lua')
local Text = {}
Text.__index = Text

function Text:slice(from, to) return self.source:sub(from, to - 1) end

local function escape(x) return (x:gsub('[&<>]', { ['&'] = '&amp;', ['<'] = '&lt;', ['>'] = '&gt;' })) end

-- Appends HTML for a part of the source. What stands between two parts is the break between lines.
function Text:add(html, from, to)
  local line, between = self.lines[#self.lines], self.last and self:slice(self.last, from)
  if self.pending == 'LineBreak' then
    table.insert(self.html, self:tag('<br id="%s">', between))
    line = { size = 0, breaks = {} }
    table.insert(self.lines, line)
  elseif self.pending == 'SoftBreak' then
    local before, after = self:slice(math.max(self.last - 3, 1), self.last), self:slice(from, from + 21)
    local joint = wrap.joint(before, after)
    table.insert(line.breaks, { at = line.size, text = between, before = before:sub(-1), after = after })
    table.insert(self.html, joint)
    line.size = line.size + #joint
  end
  self.pending = nil
  table.insert(self.html, html)
  line.size = line.size + to - from
  self.first, self.last = self.first or from, to
end

-- Returns a tag, with a name in place of %s, that stands for a part of the source.
function Text:tag(tag, original)
  self.names = self.names + 1
  tag = tag:gsub('%%s', 'nibu-' .. self.names)
  self.kept[tag] = original
  return tag
end

function Text:keep(tag, from, to) self:add(self:tag(tag, self:slice(from, to)), from, to) end

function Text:spell(character, spelling)
  self.spelled[character] = self.spelled[character] or {}
  table.insert(self.spelled[character], spelling)
end

local word, point = '<code id="%s">0</code>', '<img id="%s">'  -- what is read as a word, and what is none

function Text:str(x, from, to)
  local written = self:slice(from, to)
  if x == written then
    for c in x:gmatch '%p' do self:spell(c, c) end
    self:add(escape(x), from, to)
  elseif x:match '^%p$' then  -- \* or &ast;
    self:spell(x, written)
    self:add(escape(x), from, to)
  elseif written:match '^&#?%w+;$' then
    self:add(written, from, to)
  else  -- hidden
    self:keep(word, from, to)
  end
end

-- Appends what encloses other inlines: its marks are a pair of tags.
function Text:pair(x, from, to)
  local inner_from, inner_to = x.content.from, x.content.to
  if not inner_from then return self:keep(word, from, to) end  -- <https://...>
  local mark = self:slice(from, inner_from)
  self:keep('<%s>', from, inner_from)
  local name = 'nibu-' .. self.names
  self:inlines(x.content)
  self.pending = nil
  if x.t == 'Link' and self:slice(inner_to, to):match '^%s*%]%[?%]?$' then
    self.labels['</' .. name .. '>'] = { opening = '<' .. name .. '>', label = self:slice(inner_from, inner_to) }
  end
  if mark:match '^[*_~=+^]+$' then self.tight[name] = true end
  self.kept['</' .. name .. '>'] = self:slice(inner_to, to)
  self:add('</' .. name .. '>', inner_to, to)
end

-- Appends an image, whose description is a text of its own.
function Text:image(x, from, to)
  self:keep(point, from, to)
  table.insert(self.images, { tag = self.html[#self.html], from = from, to = to, content = x.content })
end

-- A tag of HTML is for the translator to read, if it is on one line.
function Text:raw(from, to)
  local written = self:slice(from, to)
  if not written:match '^<[^<>\r\n]*>$' then
    local name = written:match '^<(/?%a[%w-]*)'
    return self:keep(name and '<' .. name .. ' id="%s">' or point, from, to)
  end
  self:add(written, from, to)
end

function Text:inlines(list)
  for _, x in ipairs(list) do
    local from, to = x.from, x.to
    local written = from and self:slice(from, to)
    if x.t == 'SoftBreak' or x.t == 'LineBreak' then
      self.pending = x.t
    elseif not from then  -- a task's box
    elseif x.t == 'Str' then
      self:str(x.text, from, to)
    elseif x.t == 'Space' then
      self.drawn = self.drawn or #written > 2
      self:add(written, from, to)
    elseif x.t == 'Math' and written:match '^%$[^$]' and
      (self:slice(from - 1, from):match '%w' or self.source:match('^%w', to)) then
      self:str(written, from, to)  -- dollars, as in US$5
    elseif x.t == 'Code' or x.t == 'Math' then
      self:keep(word, from, to)
    elseif x.t == 'RawInline' then
      self:raw(from, to)
    elseif x.t == 'Image' then
      self:image(x, from, to)
    elseif x.content then
      self:pair(x, from, to)
    else
      self:keep(point, from, to)
    end
  end
end

-- Returns the text of inlines that markdown_read.lua has read from the source.
return function(source, inlines)
  local text = setmetatable({ source = source, html = {}, kept = {}, images = {}, labels = {}, tight = {}, spelled = {},
    names = 0, lines = { { size = 0, breaks = {} } } }, Text)
  text:inlines(inlines)
  text.html = table.concat(text.html)
  return text.first and text
end
