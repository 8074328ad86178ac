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
//	└────────── the hashed bytes ─────────┘
//
// The hash is SHA-256, or HMAC-SHA-256 with a key, of every byte of the line before
// `,"hash":"`. The rest of the line has only one valid form, so prev covers the whole
// previous line and, through its prev, all lines before it.
//
// # The files
//
//	audit.jsonl               the file that is being written
//	audit.jsonl.000000000001  a rotated file, named for the seq of its first line
//	audit.jsonl.head          seq and hash of the last line on disk
//	audit.jsonl.lock          held by the writer
//	audit.jsonl.000000000042.torn  the incomplete text that a crash left after line 41
//
// # What this does not detect
//
// Without a key, anyone who can write the files can write a new chain. With a key, only
// its holders can, which includes the service itself. Nothing in the files shows that all
// of them, with the head, were restored to an older state: only a head that was kept
// elsewhere shows it. Records that were queued and not yet on disk when the machine went
// down are lost.
package audit
