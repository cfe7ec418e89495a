"""Engine of the guards: pipeline, permits, observers, blocks.

Invariants of all guards that rest on the interpreter's lock. Free-threaded Python needs a lock for
each of them, or a proof that a stale value does no harm:

- `RateLimit.run` reads `_direct`, and `Circuit.run` reads `direct` of its machine and `is_clean` of
  the counter, without the lock. A call that a reset or a state change overtakes counts for neither.
- `CircuitMachine.admit` refuses calls of an open circuit without the lock: it reads the state and
  the last reading of the clock one after the other.
- `HalfOpen.probes` and the permits of a bulkhead are dictionaries that calls leave without the
  lock, because the garbage collector can end a call. `list(…)` copies their keys in one step.
- `SharedCircuit` queues script calls in a `deque` without a lock, for the same reason.
- `Observers` replaces its tuple as a whole; a call reads `is_used` first, then the tuple.
- `registry.living` copies weak references in one step while other threads add some.
- Over Redis, `Route` and `Nodes` assign an address or a pool without a lock, and the last
  assignment wins; `OutageBackoff` reads two attributes without its lock in `is_current` and
  `try_acquire`; `Store` overwrites the reason of its last failure.
"""
