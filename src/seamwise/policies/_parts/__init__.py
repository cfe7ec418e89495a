"""Building blocks of the guards: backoff, budgets, circuit states, cache store, GCRA."""
