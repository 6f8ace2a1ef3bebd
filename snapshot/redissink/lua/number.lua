-- Numbers of 64 bits, which a double does not hold: unsigned ones in decimal, to be
-- compared, and two's complement in hexadecimal, to be added.

local function less(a, b)
  if #a ~= #b then return #a < #b end
  return a < b
end

local function halves(x)
  return tonumber(x:sub(1, -9), 16) or 0, tonumber(x:sub(-8), 16)
end

local function add(a, b)
  if a == '0' then return b end
  if b == '0' then return a end
  local ah, al = halves(a)
  local bh, bl = halves(b)
  local lo = al + bl
  local hi = (ah + bh + math.floor(lo / 4294967296)) % 4294967296
  lo = lo % 4294967296
  if hi == 0 then return string.format('%x', lo) end
  return string.format('%x%08x', hi, lo)
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

local function negated(x)
  local hi, lo = halves(x)
  hi, lo = 4294967295 - hi, 4294967296 - lo
  if lo == 4294967296 then hi, lo = (hi + 1) % 4294967296, 0 end
  return string.format('%x%08x', hi, lo)
end

-- hexadecimal returns x, in decimal notation, as it is to be added.
local function hexadecimal(d)
  local hi, lo = 0, 0
  for digit in d:gmatch('%d') do
    lo = lo * 10 + digit
    hi = (hi * 10 + math.floor(lo / 4294967296)) % 4294967296
    lo = lo % 4294967296
  end
  local x = string.format('%x%08x', hi, lo)
  if d:sub(1, 1) == '-' then return negated(x) end
  return x
end

-- moved returns total + to - from, all in decimal.
local function moved(total, from, to)
  if #total <= 15 and #from <= 15 and #to <= 15 then
    return string.format('%.0f', total + to - from)
  end
  return decimal(add(add(hexadecimal(total), hexadecimal(to)), negated(hexadecimal(from))))
end
