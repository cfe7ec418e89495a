"""The shop without Seamwise: FastAPI, stamina, pybreaker and exception handlers, for comparison."""
