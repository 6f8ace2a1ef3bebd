-- A row is "seq created value carry whole": the first two in 20 decimal digits,
-- the others in 16 hexadecimal ones. The writer's count is carry + value. Whole
-- is what that was in the writer's last whole snapshot, if seq is newer.

local function packRow(seq, created, value, carry, whole)
  return seq .. ' ' .. created .. ' ' .. value .. ' ' .. carry .. ' ' .. whole
end

local function unpackRow(row)
  return row:sub(1, 20), row:sub(22, 41), row:sub(43, 58), row:sub(60, 75), row:sub(77, 92)
end

local function countOf(row)
  return add(row:sub(43, 58), row:sub(60, 75))
end
