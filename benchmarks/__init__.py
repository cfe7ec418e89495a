"""What this library costs beside its peers: one file a job, both sides interleaved in one process."""
