-- Makes a flush the pending one of a writer, if its standing still is what the
-- writer takes it for, and renews the lease.
-- KEYS: writers, leases. ARGV: writer, standing up to its state, mark, lease in ms.
-- Answers: 1 or 0, the time in ms, the standing.
local st = standing(KEYS[1], ARGV[1])
local time = now()
if pendingOf(st) ~= ARGV[3] then
  if st:sub(1, 88) ~= ARGV[2] or stateOf(st) ~= 'L' then
    return {0, time, st}
  end
  st = pack(seqOf(st), markOf(st), ARGV[3], 'L', 0)
  redis.call('HSET', KEYS[1], ARGV[1], st)
end
redis.call('ZADD', KEYS[2], time + ARGV[4], ARGV[1])
return {1, time, st}
