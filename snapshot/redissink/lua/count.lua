-- Answers a counter's total in decimal, and how many ms old it is. If the one
-- that was kept is too old, it adds up the rows and keeps the sum.
-- KEYS: counter, kept total. ARGV: greatest age in ms, for how many ms to keep.
local age = ARGV[2] - redis.call('PTTL', KEYS[2])
if age <= tonumber(ARGV[1]) then
  return {redis.call('GET', KEYS[2]), age}
end
local sum = ZERO
local fields = redis.call('HGETALL', KEYS[1])
if #fields == 0 then return {false, 0} end
for i = 1, #fields, 2 do
  if fields[i] == 'base' then
    sum = add(sum, fields[i + 1])
  else
    sum = add(sum, countOf(fields[i + 1]))
  end
end
sum = decimal(sum)
redis.call('SET', KEYS[2], sum, 'PX', ARGV[2])
return {sum, 0}
