package workdir

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"

	"github.com/cordon-sandbox/cordon/internal/filenames"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Collect adds the artifacts of a script to its Result: the files whose names match one of its
// patterns, except those that are still as the script got them; together at most so many bytes.
func (d *Dir) Collect(script run.Script, most policy.Bytes, result *run.Result) {
	if d == nil || len(script.Artifacts) == 0 {
		return
	}
	list, unfit, err := d.list()
	for _, info := range list {
		if !slices.ContainsFunc(script.Artifacts, func(pattern string) bool { return filenames.Match(pattern, info.Name) }) {
			continue
		}
		if len(result.Artifacts) == filenames.MaxFiles {
			result.ArtifactsOmitted++
			continue
		}
		a := d.artifact(info, most)
		if a.Hash != "" && a.Hash == d.given[a.Name] {
			continue
		}
		most -= policy.Bytes(len(a.Data))
		result.Artifacts = append(result.Artifacts, a)
	}
	if err == nil && unfit > 0 {
		err = fmt.Errorf("%d names are no text, have control characters or are too long: such files cannot come back", unfit)
	}
	if err != nil {
		result.ArtifactsError = err.Error()
	}
}

// artifact reads one file.
func (d *Dir) artifact(info run.FileInfo, room policy.Bytes) run.Artifact {
	a := run.Artifact{Name: info.Name, Size: info.Size, Type: info.Type}
	f, now, err := d.open(info.Name)
	if err != nil {
		a.Error = reason(err)
		return a
	}
	defer f.Close()
	a.Size = now.Size
	if a.Size > room {
		// A sparse file can be larger than the disk.
		a.Error = fmt.Sprintf("its %v are more than the %v that are left of the limit on what comes back (limits.scratch)", a.Size, room)
		return a
	}
	// A session may write to it meanwhile.
	a.Data, err = io.ReadAll(io.LimitReader(f, int64(a.Size)))
	if err != nil {
		a.Data, a.Error = nil, reason(err)
		return a
	}
	a.Size = policy.Bytes(len(a.Data))
	sum := sha256.Sum256(a.Data)
	a.Hash = hex.EncodeToString(sum[:])
	return a
}

func reason(err error) string {
	_, why := cause(err)
	return why.Error()
}
