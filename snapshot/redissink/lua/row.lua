-- A row is five numbers of 64 bits, each as two halves, which fit in Lua's doubles:
-- seq, created, value, carry and whole. The writer's count is value + carry. Whole
-- is what that was in the writer's last whole snapshot, if seq is newer. Forty
-- bytes are less than the 64 up to which Redis packs small hashes tightly.
local ROW = '>I4I4I4I4I4I4I4I4I4I4'
local TWO = 4294967296

local function plus(ah, al, bh, bl)
  local l = al + bl
  if l >= TWO then return (ah + bh + 1) % TWO, l - TWO end
  return (ah + bh) % TWO, l
end

-- countOf returns value + carry of a row, in hexadecimal.
local function countOf(row)
  local _, _, _, _, vh, vl, ch, cl = struct.unpack(ROW, row)
  return string.format('%x%08x', plus(vh, vl, ch, cl))
end

-- wholeOf returns the same of the writer's last whole snapshot, which had this seq.
local function wholeOf(row, seqh, seql)
  local sh, sl, _, _, _, _, _, _, wh, wl = struct.unpack(ROW, row)
  if sh > seqh or sh == seqh and sl > seql then return string.format('%x%08x', wh, wl) end
  return countOf(row)
end

-- split returns the halves of an unsigned number in decimal.
local function split(d)
  local h, l = 0, 0
  for digit in d:gmatch('%d') do
    l = l * 10 + digit
    h = h * 10 + math.floor(l / TWO)
    l = l % TWO
  end
  return h, l
end
