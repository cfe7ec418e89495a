"""Engine of the guards: pipeline, permits, wait queue, clock and randomness, validation."""
