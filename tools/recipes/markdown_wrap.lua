-- Breaks a translation into as many rows as its source has, each break about where it was.
local wide = '[\xE3-\xE9\xEF][\x80-\xBF][\x80-\xBF]'  -- Chinese and Japanese write no spaces
local wrap = {}

-- Returns what stands for a line end between two texts.
function wrap.joint(before, after)
  return before:match(wide .. '$') and after:match('^' .. wide) and '' or ' '
end

-- A row that begins so would be no part of its paragraph.
local starts = { '^[-+*:]%s', '^#+%s', '^[>|=~]', '^%-%-', '^```', '^%d+[.)]%s', '^[-+*#:]$', '^%d+[.)]$' }
function wrap.starts_block(row)
  for _, start in ipairs(starts) do
    if row:match(start) then return row:match(start) end
  end
end

-- Returns the places where the pieces { text = ..., tag = ... } of a line may be broken, and the line.
local function gaps(pieces)
  local places, line = {}, ''
  for _, piece in ipairs(pieces) do
    if not piece.tag then
      for from, to in piece.text:gmatch '() +()' do
        table.insert(places, { from = #line + from, to = #line + to })
      end
      local whole = line .. piece.text
      for at in piece.text:gmatch('()' .. wide) do
        if whole:sub(math.max(#line + at - 3, 1), #line + at - 1):match(wide .. '$') then
          table.insert(places, { from = #line + at, to = #line + at })
        end
      end
    end
    line = line .. piece.text
  end
  table.sort(places, function(a, b) return a.from < b.from end)
  return places, line
end

-- Breaks a line at breaks { at, text, before, after } of a source that has `size` bytes.
function wrap.rows(pieces, breaks, size)
  local places, line = gaps(pieces)
  local rows, from, next_place = {}, 1, 1
  for _, b in ipairs(breaks) do
    local best, best_cost
    for i = next_place, #places do
      local place = places[i]
      local before, after = line:sub(place.from - 1, place.from - 1), line:sub(place.to, place.to + 20)
      local behind = (place.from - 1) - b.at / size * #line
      local cost = math.abs(behind)
      if best and behind > best_cost then break end
      if before ~= b.before and (before .. b.before):match '[.!?:;,>]' then cost = cost + 20 end
      if wrap.starts_block(after) and not wrap.starts_block(b.after) then cost = math.huge end
      if cost < (best_cost or math.huge) then best, best_cost = i, cost end
    end
    if best then
      table.insert(rows, line:sub(from, places[best].from - 1) .. b.text)
      from, next_place = places[best].to, best + 1
    end
  end
  table.insert(rows, line:sub(from))
  return table.concat(rows)
end

return wrap
