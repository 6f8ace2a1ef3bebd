-- Adds the rows of dead writers to the base of their counters, as they were in
-- the writers' last whole snapshots.
-- KEYS: writers, counter… ARGV: writer…
-- Answers how many rows there were.
local whole = {}
for i, st in ipairs(redis.call('HMGET', KEYS[1], unpack(ARGV))) do
  whole[i] = st and stateOf(st) == 'D' and {split(seqOf(st))}
end
local rows = 0
for i = 2, #KEYS do
  local base
  for w, row in ipairs(redis.call('HMGET', KEYS[i], unpack(ARGV))) do
    if row and whole[w] then
      local count = wholeOf(row, unpack(whole[w]))
      base = add(base or redis.call('HGET', KEYS[i], 'base') or '0', count)
      redis.call('HDEL', KEYS[i], ARGV[w])
      rows = rows + 1
    end
  end
  if base then redis.call('HSET', KEYS[i], 'base', base) end
end
return rows
