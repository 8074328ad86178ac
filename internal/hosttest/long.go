package hosttest

import "os"

// Long says that a run may take its time, as `make test-long` does: then corpora of
// what ordinary code does are tried whole. What a wall has to stop is never among
// what is left for it.
func Long() bool { return os.Getenv("CORDON_TEST_LONG") == "1" }
