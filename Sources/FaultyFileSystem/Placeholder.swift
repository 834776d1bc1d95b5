// The wrapper and the memory file system are added next.
