"""Lua script of the rate limit: the generic cell rate algorithm (ITU-T I.371).

A bucket is one Redis string with two numbers. The first is its fill level at the last write, in
millionths of a call: weights are whole numbers, so that no rounding error adds up in a burst. The
second is the time of that write, in microseconds of the server's clock. The key expires when the
bucket is empty again.

A call may be half a microsecond early. That is less than the resolution of the clock, and more
than the rounding error of the fill level.
"""

from typing import Final

from seamwise.policies.redis.scripts import Script, new_script

GCRA: Final[Script] = new_script("""
-- KEYS[1]: the bucket.
-- ARGV, in millionths of a call: weight of this call, total weight of the waiters ahead of it,
-- burst, limit; then the period in microseconds.
-- Returns the microseconds until this call would pass; 0 if it has taken its slot.
-- A call with waiters ahead of it never takes a slot.
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local weight, ahead, burst = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local rate = tonumber(ARGV[4]) / tonumber(ARGV[5])
local level, written_at = string.match(redis.call('GET', KEYS[1]) or '', '(%S+) (%S+)')
level, written_at = tonumber(level or 0), tonumber(written_at or now)

local function write(new_level)
  if new_level <= 0 then return end
  local ttl = math.ceil(new_level / rate / 1000)
  redis.call('SET', KEYS[1], string.format('%.17g %.0f', new_level, now), 'PX', ttl)
end

if now < written_at then
  -- The clock went back: keep the level.
  write(level)
else
  level = math.max(level - (now - written_at) * rate, 0)
end
local excess = level + ahead + weight - burst
if excess > math.min(rate, weight) / 2 then
  return {math.max(math.ceil(excess / rate - 0.5), 1)}
end
if ahead > 0 then
  return {1}
end
write(level + weight)
return {0}
""")
