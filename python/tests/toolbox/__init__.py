"""A package of the caller's own: the guest has it only if its source is sent."""
