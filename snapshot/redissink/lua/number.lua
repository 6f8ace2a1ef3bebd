-- 64-bit two's complement numbers as 16 hexadecimal digits.

local ZERO = string.rep('0', 16)

local function halves(x)
  return tonumber(x:sub(1, 8), 16), tonumber(x:sub(9, 16), 16)
end

local function add(a, b)
  if a == ZERO then return b end
  if b == ZERO then return a end
  local ah, al = halves(a)
  local bh, bl = halves(b)
  local lo = al + bl
  local hi = ah + bh + math.floor(lo / 4294967296)
  return string.format('%08x%08x', hi % 4294967296, lo % 4294967296)
end

-- decimal returns x in decimal notation. It divides by 10^6, since a remainder
-- below that in front of 32 bits still is a whole number in a double.
local function decimal(x)
  local hi, lo = halves(x)
  local sign = ''
  if hi >= 2147483648 then
    sign = '-'
    hi, lo = 4294967295 - hi, 4294967296 - lo
    if lo == 4294967296 then hi, lo = hi + 1, 0 end
  end
  local digits = ''
  repeat
    local rest = (hi % 1000000) * 4294967296 + lo
    hi, lo = math.floor(hi / 1000000), math.floor(rest / 1000000)
    digits = string.format('%06d', rest % 1000000) .. digits
  until hi == 0 and lo == 0
  digits = digits:gsub('^0+', '')
  if digits == '' then return '0' end
  return sign .. digits
end
