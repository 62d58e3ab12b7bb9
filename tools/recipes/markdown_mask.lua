-- Hides from a reader of CommonMark what is none: front matter, templates, admonitions, JSX, embedded formulas.
local WORD = 'ꙮ'  -- stands for each character of what is hidden within a text; pandoc takes it for a letter

local function fill(x) return WORD:rep(utf8.len(x)) end

-- Splits a text into rows { from = its first byte, text = without the line end and with tabs as spaces,
-- at = the byte of each column }.
local function split(source)
  local rows, from = {}, source:match '^\u{FEFF}()' or 1
  while from <= #source do
    local to, next_row = source:match('^[^\r\n]*()\r?\n?()', from)
    local row = { from = from, at = {} }
    local text = {}
    for at, code in utf8.codes(source:sub(from, to - 1)) do
      local width = code == 9 and 4 - #row.at % 4 or 1
      for _ = 1, width do table.insert(row.at, from + at - 1) end
      table.insert(text, code == 9 and (' '):rep(width) or utf8.char(code))
    end
    table.insert(row.at, to)
    row.text = table.concat(text)
    table.insert(rows, row)
    from = next_row
  end
  return rows
end

-- Returns the last row of the front matter: YAML, TOML or JSON.
local function front_matter(rows)
  local ends = { ['---'] = { '---', '...' }, ['+++'] = { '+++' }, [';;;'] = { ';;;' }, ['{'] = { '}' } }
  local wanted = rows[1] and ends[(rows[1].text:gsub('%s+$', ''))]
  if not wanted or not rows[2] or not rows[2].text:match '%S' then return 0 end
  for i = 2, #rows do
    local text = rows[i].text:gsub('%s+$', '')
    if text == wanted[1] or text == wanted[2] then return i end
  end
  return 0
end

-- Within a row: templates of Jinja, Liquid, Hugo, Vue and ERB, comments of MDX, formulas.
local spans = {
  '{{[^{}]*}}', '{{[^{}]*%b{}[^{}]*}}', '{%%.-%%}', '{#[%s-].-#}', '<%%.-%%>', '{/%*.-%*/}', '\\%(.-\\%)',
}
-- From the beginning of one row to the end of another, mostly with no empty row in between.
local blocks = {
  { '^{{', '}}%s*$' }, { '^{%%', '%%}%s*$' }, { '^{#[%s-]', '#}%s*$' }, { '^<%%', '%%>%s*$' },
  { '^{/%*', '%*/}%s*$' }, { '^\\%[%s*$', '^%s*\\%]' }, { '^\\%[.+\\%]%s*$', '.' }, { '^\\begin{', '\\end{' },
  { '^import .+ from%s+["\'][^"\']+["\'];?%s*$', '.' }, { '^import%s+["\'][^"\']+["\'];?%s*$', '.' },
  { '^import%s+[%w*, ]*{[^}]*$', 'from%s+["\'][^"\']+["\'];?%s*$' },
  { '^</?%u[%w.]*$', '^%s*/?>%s*$' }, { '^<%u[%w.]*%s[^>]*$', '[^=]>%s*$' },
}
for _, word in ipairs { 'const ', 'let ', 'default ', 'function ', 'async ', 'class ', '[{*]' } do
  local export = '^export%s+' .. word
  table.insert(blocks, { export .. '.*[%[{(>,=]%s*$', '^[%]})]', with_empty_rows = true })
  table.insert(blocks, { export .. '.*[={(*;]', '.' })
end
-- Rows of their own: fences of containers, contents, snippets, abbreviations.
local lines = {
  '^:::', '^{%.x+}%s*$', '^%[%[?_?[Tt][Oo][Cc]_?%]?%]%s*$', '^<<< ', '^;?%-%-8<%-%-', '^%*%[[^%]]+%]:',
}

-- Signs behind a definition, with which it would be none, and seven hashes, which are no heading.
local function hide_signs(text)
  local definition, signs = text:match '^(%[[^%]]+%]:%s*%S.*%s)([^%w%s"\'()\x80-\xff]+%s*)$'
  if not definition then definition, signs = text:match '^(%[[^%]]+%]:%s*%S+%s.-)(%%%%%%.*)$' end
  if definition then return definition .. (' '):rep(#signs) end
  return (text:gsub('^#######+%f[%s]', fill))
end

local function hide_spans(text)
  text = hide_signs(text)
  for _, span in ipairs(spans) do text = text:gsub(span, fill) end
  text = text:gsub('(!?%[%[[^%[%]]+%]%])()', function(x, behind)
    if not text:match('^[(%[]', behind) then return fill(x) end
  end)
  text = text:gsub('{:([^{}]+)}', function(x) return '{.' .. ('x'):rep(utf8.len(x)) .. '}' end)
  text = text:gsub('(==)([^%s=][^=]*)==', '**%2**'):gsub('(%+%+)([^%s+][^+]*)%+%+', '**%2**')  -- marks of their own
  text = text:gsub('(</?)(%u%w*%.[%w.]+[^<>]-)(/?>)', function(left, x, right)  -- JSX: <Tabs.Item>
    return left .. ('x'):rep(utf8.len(x)) .. right
  end)
  local found = 1
  while found > 0 do  -- JSX: <Tab value={[1, 2]}>
    text, found = text:gsub('(<%a[^<>{}]*=)(%b{})', function(tag, x) return tag .. ('x'):rep(utf8.len(x)) end)
  end
  return text
end

-- Returns what stands for a row that ends where another text would begin, or nil.
local function line(text)
  for _, pattern in ipairs(lines) do
    if text:match(pattern) then return '' end
  end
  -- An admonition or a tab of MkDocs: what it holds is indented, as in a list.
  local types = text:match '^[!?][!?][!?]%+?(%s+%a[^"]*)' or text:match '^===[!+]?(%s+)"'
  if types and types:match '^[%w%s_-]*$' then return '-   ***' end
  local alert, title = text:match '^(%[![%w-]+%][+-]?)(.*)$'
  if alert then return title:match '%S' and '#' .. (' '):rep(#alert - 1) .. title or '' end
  if not text:gsub(WORD, ''):match '%S' then return '' end
end

local function block_end(rows, first, prefix)
  for _, block in ipairs(blocks) do
    if rows[first].text:match(block[1], #prefix + 1) then
      for i = first, #rows do
        if rows[i].text:match(block[2], i == first and #prefix + 1 or 1) then return i end
        if not block.with_empty_rows and i > first and not rows[i].text:match '[^%s>]' then break end
      end
    end
  end
end

local function opens_code(text)
  local prefix, fence = text:match '^([%s>%-*+%d.)]*)(```+)[^`]*$'
  if not fence then prefix, fence = text:match '^([%s>%-*+%d.)]*)(~~~+)' end
  return fence, prefix and prefix:match '>'
end

-- Returns the text for the reader, and the rows of the source.
return function(source)
  local rows = split(source)
  local masked, notes, i = {}, {}, front_matter(rows)
  for at = 1, i do masked[at] = '' end
  local fence, quoted
  while i < #rows do
    i = i + 1
    local text = rows[i].text
    local prefix = text:match '^[%s>%-*+%d.)]*>%s*' or text:match '^%s*'
    if fence and quoted and not prefix:match '>' then fence = nil end
    if fence then
      local closing = text:match('^([`~]+)%s*$', #prefix + 1)
      if closing and #closing >= #fence and closing:sub(1, 1) == fence:sub(1, 1) then fence = nil end
      masked[i] = text
    else
      fence, quoted = opens_code(text)
      local last = not fence and block_end(rows, i, prefix)
      if last then
        for at = i, last do masked[at] = rows[at].text:match '^[%s>]*' end
        i = last
      else
        local hidden = hide_spans(text:sub(#prefix + 1))
        masked[i] = prefix .. (line(hidden) or hidden)
        table.insert(notes, text:match('^%[%^[^%]%s]+%]%f[:]', #prefix + 1))
      end
    end
  end
  -- pandoc has no place for a footnote that nothing refers to.
  return table.concat(masked, '\n') .. '\n\n' .. table.concat(notes, ' ') .. '\n', rows
end
