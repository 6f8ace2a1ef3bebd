-- Declares writers dead whose lease has run out, and forgets tombstones that
-- have stood for long enough.
-- KEYS: writers, leases. ARGV: how many at most.
-- Answers how many leases and tombstones had run out, and the dead that are to be
-- added up.
local dead = {}
local out = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', '(' .. now(), 'LIMIT', 0, ARGV[1])
for _, writer in ipairs(out) do
  local st = standing(KEYS[1], writer)
  if stateOf(st) == 'T' then
    redis.call('HDEL', KEYS[1], writer)
    redis.call('ZREM', KEYS[2], writer)
  else
    redis.call('HSET', KEYS[1], writer, pack(seqOf(st), markOf(st), NONE, 'D', 0))
    dead[#dead + 1] = writer
  end
end
return {#out, dead}
