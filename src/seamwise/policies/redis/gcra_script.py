"""Lua script of the rate limit: the generic cell rate algorithm (ITU-T I.371).

A bucket is one Redis string with two numbers, in microseconds of the server's clock. The first is
the theoretical arrival time (TAT) of the next call. The second is the time of the last write, to
detect a clock that goes back. The key expires when the bucket is full again.

A call may be half a microsecond early. That is less than the resolution of the clock, and more
than the rounding error of doubles over a burst.
"""

from typing import Final

from seamwise.policies.redis.scripts import Script, new_script

GCRA: Final[Script] = new_script("""
-- KEYS[1]: the bucket.
-- ARGV, in microseconds: cost of this call, cost of a burst, total cost of the waiters ahead of it.
-- Returns the microseconds until this call would pass; 0 if it has taken its slot.
-- A call with waiters ahead of it never takes a slot.
local time = redis.call('TIME')
-- Counted from 2023, so that a double has room for fractions of a microsecond.
local now = (tonumber(time[1]) - 1700000000) * 1000000 + tonumber(time[2])
local cost, burst, ahead = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local tat, written_at = string.match(redis.call('GET', KEYS[1]) or '', '(%S+) (%S+)')
tat, written_at = tonumber(tat or now), tonumber(written_at or now)

local function write(new_tat)
  if new_tat <= now then return end
  local ttl = math.ceil((new_tat - now) / 1000)
  redis.call('SET', KEYS[1], string.format('%.17g %.0f', new_tat, now), 'PX', ttl)
end

if now < written_at then
  -- The clock went back: keep the remaining time.
  tat = tat - (written_at - now)
  write(tat)
end
tat = math.max(tat, now)
local new_tat = tat + ahead + cost
local delay = new_tat - now - burst
if delay > math.min(0.5, cost / 2) then
  return {math.max(math.ceil(delay - 0.5), 1)}
end
if ahead > 0 then
  return {1}
end
write(new_tat)
return {0}
""")
