-- Merges some sketches of a flush, in Redis' own format, into those there.
-- KEYS: writers, index, a scratch key, sketch…
-- ARGV: writer, mark, request, length of the keys' prefix, sketch…
local writer, index = ARGV[1], tonumber(ARGV[3])
local st = standing(KEYS[1], writer)
local mine, answer = turn(st, ARGV[2], index)
if not mine then return answer end
for i = 4, #KEYS do
  if redis.call('EXISTS', KEYS[i]) == 0 then
    redis.call('SET', KEYS[i], ARGV[i + 1])
  else
    redis.call('SET', KEYS[3], ARGV[i + 1])
    redis.call('PFMERGE', KEYS[i], KEYS[3])
    redis.call('DEL', KEYS[3])
  end
  redis.call('ZADD', KEYS[2], 0, KEYS[i]:sub(ARGV[4] + 1, -2))
end
return took(KEYS[1], writer, st, index)
