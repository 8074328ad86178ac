// Functions without a body are accepted only where there is an assembly file.
