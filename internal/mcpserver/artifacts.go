package mcpserver

import (
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/run"
)

// maxNoted is how many files a remark names.
const maxNoted = 20

// artifactAnswer is a run.Artifact without its data, which is in the content.
type artifactAnswer struct {
	Name  string `json:"name"`
	Size  int64  `json:"bytes"`
	Type  string `json:"type"`
	Hash  string `json:"sha256,omitempty"`
	Error string `json:"error,omitempty"`
}

// artifacts returns the files of a run: their list, their data as parts of an answer, and notes
// with their names.
func artifacts(r run.Result, request run.Request, session string) (list []artifactAnswer, omitted int, parts []mcp.Content, notes []string) {
	kept, more := listed(r.Artifacts, func(a run.Artifact) string { return a.Name + a.Error })
	omitted = r.ArtifactsOmitted + more
	left := newBudget()
	var here, missing []string
	for _, a := range kept {
		one := artifactAnswer{Name: a.Name, Size: int64(a.Size), Type: a.Type, Hash: a.Hash, Error: a.Error}
		name := text.Word(a.Name, 200)
		if one.Error == "" {
			p := piece{FileInfo: run.FileInfo{Name: a.Name, Size: a.Size, Type: a.Type}, data: a.Data}
			if part := left.content(fileURI(session, a.Name), p); part != nil {
				parts, here = append(parts, part), append(here, fmt.Sprintf("%s (%d bytes, %s)", name, a.Size, a.Type))
			} else {
				one.Error = fmt.Sprintf("its %d bytes are above what is left of the %d that an answer holds: write less, or fetch it with read_file from a session", a.Size, maxBlob)
			}
		}
		if one.Error != "" {
			missing = append(missing, name+": "+text.Line(one.Error))
		}
		list = append(list, one)
	}
	if len(here) > 0 {
		notes = append(notes, "Files: "+firstOf(here, ", ")+".")
	}
	if len(missing) > 0 {
		notes = append(notes, "Files left out: "+firstOf(missing, "; ")+".")
	}
	if omitted > 0 {
		notes = append(notes, fmt.Sprintf("%d more files match artifacts: name fewer.", omitted))
	}
	if r.ArtifactsError != "" {
		notes = append(notes, "There may be more files: "+text.Line(r.ArtifactsError)+".")
	}
	if len(request.Script.Artifacts) > 0 && len(r.Artifacts) == 0 && r.ArtifactsError == "" && r.OK() {
		notes = append(notes, "No new file in /work matches artifacts.")
	}
	return list, omitted, parts, notes
}

// firstOf joins the first of these words, and counts the others.
func firstOf(words []string, by string) string {
	if more := len(words) - maxNoted; more > 0 {
		words = append(words[:maxNoted:maxNoted], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(words, by)
}

// artifactsOutput returns the schema of the list of artifacts.
func artifactsOutput() schema {
	return listOf(object(map[string]schema{
		"name": describedText("its path below /work"), "bytes": integer("its size"), "type": describedText("the MIME type that its name stands for"),
		"sha256": describedText("of its data"), "error": describedText("why the data is not in the content"),
	}, "name", "bytes", "type"), "the files that artifacts asks for; their data is in the content")
}
