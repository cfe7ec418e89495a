"""Lua script of the rate limit with an exact sliding window.

A window is one Redis list of the calls of the last period, oldest first. Each item has four
numbers: the time in microseconds, the weight in millionths of a call, the sum of all weights so
far, and the correction of the clock. A sum is counted modulo 2^52, which doubles represent exactly;
the difference of two sums is the weight of the calls between them. The key expires when its last
call does.

If the server's clock goes back, the last item keeps the difference, and time goes on from there:
that neither frees nor takes slots.
"""

from typing import Final

from seamwise.policies.redis.scripts import Script, new_script

WINDOW: Final[Script] = new_script("""
-- KEYS[1]: the window.
-- ARGV, in millionths of a call: weight of this call, total weight of the waiters ahead of it,
-- burst (unused), limit; then the period in microseconds.
-- Returns the microseconds until this call would pass; 0 if it has taken its slot.
-- A call with waiters ahead of it never takes a slot.
local MODULUS, CHUNK = 4503599627370496, 128
local time = redis.call('TIME')
local weight, ahead = tonumber(ARGV[1]), tonumber(ARGV[2])
local limit, period = tonumber(ARGV[4]), tonumber(ARGV[5])
local ttl = math.ceil(period / 1000)

local function parse(item)
  local moment, call_weight, sum, correction = string.match(item, '(%S+) (%S+) (%S+) (%S+)')
  return {
    moment = tonumber(moment), weight = tonumber(call_weight), sum = tonumber(sum),
    correction = tonumber(correction),
  }
end

local function format(call)
  return string.format('%.0f %.0f %.0f %.0f', call.moment, call.weight, call.sum, call.correction)
end

-- Iterates over the calls, oldest first, and reads more at once the more are needed.
local function calls()
  local start, size, chunk, position = 0, 1, {}, 0
  return function()
    position = position + 1
    if position > #chunk then
      start = start + #chunk
      chunk = redis.call('LRANGE', KEYS[1], start, start + size - 1)
      size, position = math.min(2 * size, CHUNK), 1
    end
    if chunk[position] then return parse(chunk[position]) end
  end
end

local last = redis.call('LINDEX', KEYS[1], -1)
last = last and parse(last) or {moment = 0, sum = 0, correction = 0}
local now = tonumber(time[1]) * 1000000 + tonumber(time[2]) + last.correction
if now < last.moment then
  last.correction = last.correction + last.moment - now
  now = last.moment
  redis.call('LSET', KEYS[1], -1, format(last))
  redis.call('PEXPIRE', KEYS[1], ttl)
end

local expired, total = 0, 0
for call in calls() do
  if call.moment > now - period then
    total = (last.sum - call.sum) % MODULUS + call.weight
    break
  end
  expired = expired + 1
end
if expired > 0 then redis.call('LTRIM', KEYS[1], expired, -1) end

if ahead + weight == 0 then return {0} end
-- Waiters can weigh more than a window admits: each full window takes a whole period.
local needed = (ahead + weight - 1) % limit + 1
local periods = (ahead + weight - needed) / limit
local excess, free_at = total + needed - limit, now
if excess > 0 then
  for call in calls() do
    excess, free_at = excess - call.weight, call.moment + period
    if excess <= 0 then break end
  end
end
local delay = math.ceil(free_at - now + periods * period)
if delay > 0 then return {delay} end
if ahead > 0 then return {1} end
redis.call('RPUSH', KEYS[1], format({
  moment = now, weight = weight, sum = (last.sum + weight) % MODULUS, correction = last.correction,
}))
redis.call('PEXPIRE', KEYS[1], ttl)
return {0}
""")
