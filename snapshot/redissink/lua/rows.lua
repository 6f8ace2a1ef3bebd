-- Applies some rows of a flush.
-- KEYS: writers, index, counter…
-- ARGV: writer, mark, request, seq, length of the keys' prefix, and for each
-- counter its rows, one or more of created and value.
local writer, seq, index = ARGV[1], ARGV[4], tonumber(ARGV[3])
local st = standing(KEYS[1], writer)
local mine, answer = turn(st, ARGV[2], index)
if not mine then return answer end
for i = 3, #KEYS do
  local key, rows = KEYS[i], ARGV[i + 3]
  local row = redis.call('HGET', key, writer)
  for at = 1, #rows, 36 do
    local created, value = rows:sub(at, at + 19), rows:sub(at + 20, at + 35)
    if not row then
      row = packRow(seq, created, value, ZERO, ZERO)
    else
      local seqThere, createdThere, valueThere, carry, whole = unpackRow(row)
      if seqThere <= seqOf(st) then whole = add(valueThere, carry) end
      if created > createdThere then
        row = packRow(seq, created, value, add(valueThere, carry), whole)
      elseif created == createdThere and seq > seqThere then
        row = packRow(seq, created, value, carry, whole)
      end
    end
  end
  if redis.call('HSET', key, writer, row) == 1 then
    redis.call('ZADD', KEYS[2], 0, key:sub(ARGV[5] + 1, -2))
  end
end
return took(KEYS[1], writer, st, index)
