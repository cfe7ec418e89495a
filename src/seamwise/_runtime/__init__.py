"""Parts that guards, seams, live sessions and tools share: time, locks, samples, strict JSON."""
