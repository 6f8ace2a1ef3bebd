-- Applies some rows of a flush.
-- KEYS: writers, index, counter…
-- ARGV: writer, mark, request, seq, length of the keys' prefix, and for each
-- counter its rows, one or more of created and value.
local writer, seq, index = ARGV[1], ARGV[4], tonumber(ARGV[3])
local st = standing(KEYS[1], writer)
local mine, answer = turn(st, ARGV[2], index)
if not mine then return answer end
local committed = seqOf(st):match('^0*(%d+)$')
for i = 3, #KEYS do
  local row = redis.call('HGET', KEYS[i], writer)
  for created, value in ARGV[i + 3]:gmatch('(%d+) (%x+)') do
    if not row then
      row = packRow(seq, created, value, '0', '0')
    else
      local seqThere, createdThere, valueThere, carry, whole = unpackRow(row)
      if not less(committed, seqThere) then whole = add(valueThere, carry) end
      if less(createdThere, created) then
        row = packRow(seq, created, value, add(valueThere, carry), whole)
      elseif created == createdThere and less(seqThere, seq) then
        row = packRow(seq, created, value, carry, whole)
      end
    end
  end
  if redis.call('HSET', KEYS[i], writer, row) == 1 then
    redis.call('ZADD', KEYS[2], 0, KEYS[i]:sub(ARGV[5] + 1, -2))
  end
end
return took(KEYS[1], writer, st, index)
