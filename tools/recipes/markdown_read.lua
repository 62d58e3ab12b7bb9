-- Reads with pandoc what the paragraphs, headings, cells and terms of a Markdown source hold.
local mask = dofile((PANDOC_SCRIPT_FILE:match '^.*/' or '') .. 'markdown_mask.lua')
local reader = 'commonmark+pipe_tables+strikeout+task_lists+footnotes+definition_lists+attributes+bracketed_spans'
  .. '+subscript+superscript+tex_math_dollars+raw_attribute+sourcepos'

-- Returns a list of lists of inlines { t = type, text, content, from = first byte, to = the byte behind the last }.
return function(source)
  local masked, rows = mask(source)

  -- A position is "1:3-1:9", or several such.
  local function bytes(position)
    local row, column = (position or ''):match '^(%d+):(%d+)'
    local last_row, last_column = (position or ''):match '(%d+):(%d+)$'
    row, last_row = rows[tonumber(row)], rows[tonumber(last_row)]
    if not row then return nil end
    return row.at[tonumber(column)] or row.at[#row.at], last_row.at[tonumber(last_column)] or last_row.at[#last_row.at]
  end

  local inlines
  local function inline(x)
    local attributes, content = x.attributes, x.t ~= 'Note' and (x.content or x.caption)
    local from, to = bytes(attributes and attributes['data-pos'])
    local first = x.t == 'Span' and #content == 1 and content[1]
    if first and not (first.attributes and first.attributes['data-pos']) then  -- it is there for the position
      x, content = first, first.t ~= 'Note' and first.content
    elseif from and (#attributes > 1 or #x.classes > 0 or x.identifier ~= '') then
      to = source:match('^%b{}()', to) or to  -- pandoc does not count attributes
    end
    local result = { t = x.t, text = x.text, content = content and inlines(content), from = from, to = to }
    local marks = ({ Emph = 1, Strong = 2 })[x.t]
    if marks and result.content.from then  -- pandoc takes the wrong ones of ***
      result.from, result.to = result.content.from - marks, result.content.to + marks
    elseif from then  -- in a table, pandoc counts the backslash of \| to what is in front of it
      if source:match('^\\|', to - 1) and not (x.text or ''):match '\\$' then result.to = to - 1 end
      if source:match('^\\|', from - 1) and x.text == '|' then result.from = from - 1 end
    end
    return result
  end

  function inlines(list)
    local result = {}
    for _, x in ipairs(list) do
      local item = inline(x)
      result.from, result.to = result.from or item.from, item.to or result.to
      table.insert(result, item)
    end
    return result
  end

  local found = {}
  local function find(list)
    local result = inlines(list)
    if result.from then found[result.from] = result end  -- a footnote is there for each mark of it
  end
  local function content(x) find(x.content) end
  pandoc.read(masked, reader):walk {
    Para = content, Plain = content, Header = content,
    DefinitionList = function(x)
      for _, item in ipairs(x.content) do find(item[1]) end
    end,
  }
  local texts = {}
  for _, x in pairs(found) do table.insert(texts, x) end
  table.sort(texts, function(a, b) return a.from < b.from end)
  return texts
end
