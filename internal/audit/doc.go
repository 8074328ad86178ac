// Package audit keeps a log of every request to a service: one line of JSON each, chained
// by hashes, so that a line that was changed, moved, inserted or removed is detected.
//
//	log, err := audit.Open(audit.Options{Path: path})   // one writer at a time
//	err = log.Admit()                                   // may this run begin?
//	err = log.Record(audit.RecordOf(audit.Run{…}))      // queued; many share an fsync
//	err = log.Flush(ctx)                                // on disk
//	report, err := audit.Verify(path, audit.Check{})    // every finding, with file and line
//	for entry, err := range audit.Read(path, audit.Filter{}) { … }
//
// # A line
//
//	{"seq":7,"prev":"<hash of line 6>", … ,"hash":"<hash>"}
//	└──────────── what is hashed ─────────┘
//
// The hash is SHA-256, or HMAC-SHA-256 with a key, of every byte of the line
// before `,"hash":"`. The rest of the line has one possible form, so that prev
// commits to all of the line before it, and through it to all lines before that.
//
// # The files
//
//	audit.jsonl               what is written now
//	audit.jsonl.000000000001  rotated, by the seq of its first line
//	audit.jsonl.head          seq and hash of the last line on disk
//	audit.jsonl.lock          held by the writer
//	audit.jsonl.000000000042.torn  what a crash left behind line 41
//
// # What this does not detect
//
// Without a key, anyone who can write the files can write a new chain. With a key, only
// its holders can, which includes the service itself. Nothing in the files shows that all
// of them, with the head, were restored to an older state: that takes a head that was
// kept elsewhere. Records that were queued and not yet on disk when the machine went down
// are lost.
package audit
