-- A row is "seq created value carry whole": two decimal numbers and three
-- hexadecimal ones. The writer's count is value + carry. Whole is what that was in
-- the writer's last whole snapshot, if seq is newer. Rows are mostly shorter than
-- 64 bytes, up to which Redis packs small hashes tightly.

local function packRow(seq, created, value, carry, whole)
  return seq .. ' ' .. created .. ' ' .. value .. ' ' .. carry .. ' ' .. whole
end

local function unpackRow(row)
  return row:match('^(%d+) (%d+) (%x+) (%x+) (%x+)$')
end

local function countOf(row)
  local _, _, value, carry = unpackRow(row)
  return add(value, carry)
end
