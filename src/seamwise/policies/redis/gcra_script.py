"""The rate limit as Redis does it: the generic cell rate algorithm (ITU-T I.371), over one number a bucket.

The number is the theoretical arrival time of the next call, in microseconds of the server's clock; beside it stands when that was
written, to know a clock that goes back. A bucket that is full again is forgotten by Redis itself. Half a microsecond is less than
the clock can tell, and more than what doubles lose in a burst.
"""

from typing import Final

from seamwise.policies.redis.store import Script, script

GCRA: Final[Script] = script("""
-- KEYS: the bucket. ARGV: what this call costs, what a burst costs, what those cost who wait before it, in microseconds.
-- Answers the microseconds until this call would pass: 0 has taken its slot, more has taken nothing. Behind others nothing is taken.
local time = redis.call('TIME')
-- Counted from 2023, so that a double holds parts of a microsecond.
local now = (tonumber(time[1]) - 1700000000) * 1000000 + tonumber(time[2])
local cost, burst, ahead = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local arrival, seen = string.match(redis.call('GET', KEYS[1]) or '', '(%S+) (%S+)')
arrival, seen = tonumber(arrival or now), tonumber(seen or now)

local function keep(moment)
  if moment <= now then return end
  redis.call('SET', KEYS[1], string.format('%.17g %.0f', moment, now), 'PX', math.ceil((moment - now) / 1000))
end

if now < seen then
  -- The clock has gone back: as much is left as there was.
  arrival = arrival - (seen - now)
  keep(arrival)
end
arrival = math.max(arrival, now)
local after = arrival + ahead + cost
local early = after - now - burst
if early > math.min(0.5, cost / 2) then
  return {math.max(math.ceil(early - 0.5), 1)}
end
if ahead > 0 then
  return {1}
end
keep(after)
return {0}
""")
