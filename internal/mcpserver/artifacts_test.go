package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/mcpserver"
	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func TestArtifacts(t *testing.T) {
	s := fakeServer(t, nil)
	c := startStdio(t, s).asking(t)
	step := func(patterns ...string) given {
		return given{"session": "main", "code": "print x", "artifacts": patterns}
	}
	c.want(t, "run_python", step("*"), `text "x\n"`, "No new file in /work matches artifacts.")
	if got := c("run_python", given{"session": "main", "code": "slow", "artifacts": []string{"*"}}); !got.IsError || strings.Contains(got.remark(), "matches") {
		t.Errorf("%+v", got)
	}
	c.want(t, "run_python", step("["), "", `artifacts[0]: "[": it has a [ without a ]`)
	c.want(t, "run_python", step("../*"), "", "artifacts[0]: ")
	inWork(t, s, token.Local, func(directory string) {
		if err := os.Symlink("/etc/passwd", filepath.Join(directory, "link")); err != nil {
			t.Fatal(err)
		}
	})
	got := c("run_python", step("**"))
	if list := artifactsOf(t, got); got.parts() != `text "x\n"` || got.remark() != "Files left out: link: it is a symbolic link: name the file itself." || len(list) != 1 || list[0].Error == "" || list[0].Hash != "" {
		t.Errorf("%+v %+v", got, list)
	}
	inWork(t, s, token.Local, func(directory string) {
		if err := os.WriteFile(filepath.Join(directory, "line\nbreak"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	})
	const unlisted = "1 names are no text, have control characters or are too long: such files cannot come back"
	if got := c("run_python", step("none")); got.remark() != "There may be more files: "+unlisted+"." || !strings.Contains(string(got.StructuredContent), `"artifacts_error":"`+unlisted+`"`) || artifactsOf(t, got) != nil {
		t.Errorf("%+v", got)
	}
	// Without a session, a file can be fetched with the answer alone.
	var asked run.Request
	once := fakeServer(t, func(o *service.Options, _ *mcpserver.Options) {
		o.Runner = withArtifacts{request: &asked, give: []run.Artifact{{Name: "empty", Type: "text/plain"}, {Name: "a b.csv", Size: 2, Type: "text/csv", Hash: "h", Data: []byte("1\n")}}}
	})
	got = startStdio(t, once).asking(t)("run_python", given{"code": "print x", "artifacts": []string{"*.csv"}})
	if want := `text "42\n"|cordon://run/files/empty text/plain text ""|cordon://run/files/a%20b.csv text/csv text "1\n"`; got.parts() != want || got.remark() != `Files: empty (0 bytes, text/plain), "a b.csv" (2 bytes, text/csv).` || !slices.Equal(asked.Script.Artifacts, []string{"*.csv"}) {
		t.Errorf("%s and %s, asked %v", got.parts(), got.remark(), asked.Script.Artifacts)
	}
}

// A resource without a text and data would be none: clients refuse the whole answer.
func TestEmptyArtifacts(t *testing.T) {
	s := fakeServer(t, func(o *service.Options, _ *mcpserver.Options) {
		o.Runner = withArtifacts{request: new(run.Request), give: []run.Artifact{{Name: "a.txt", Type: "text/plain"}}}
	})
	client := startStdio(t, s)
	client.steps(t)
	client.send(t, toolLine(7, "run_python", given{"code": "print x", "artifacts": []string{"*"}}))
	if line := string(client.receive(t)); !strings.Contains(line, `{"uri":"cordon://run/files/a.txt","mimeType":"text/plain","blob":""}`) {
		t.Error(line)
	}
}

type artifact struct {
	Name, Type, Error string
	Bytes             int64
	Hash              string `json:"sha256"`
}

func artifactsOf(t *testing.T, c called) []artifact {
	t.Helper()
	var a struct{ Artifacts []artifact }
	if err := json.Unmarshal(c.StructuredContent, &a); err != nil {
		t.Fatal(err)
	}
	return a.Artifacts
}

// withArtifacts is a Runner whose guests leave files.
type withArtifacts struct {
	fakeRunner
	request *run.Request
	give    []run.Artifact
	omitted int
}

func (r withArtifacts) Run(ctx context.Context, request run.Request) (run.Result, error) {
	*r.request = request
	result, err := r.fakeRunner.Run(ctx, request)
	result.Artifacts, result.ArtifactsOmitted = r.give, r.omitted
	return result, err
}

// An answer is bounded, whatever files a guest leaves, and says which are missing.
func TestArtifactsAreBounded(t *testing.T) {
	give := []run.Artifact{
		{Name: "text1", Data: []byte(strings.Repeat("x", 200<<10))}, {Name: "text2", Data: []byte(strings.Repeat("y", 200<<10))},
		{Name: "large", Data: make([]byte, 16<<20)}, {Name: "image", Data: append([]byte(tinyPNG), make([]byte, 2<<20)...)}, {Name: "more", Data: append([]byte(tinyPNG), make([]byte, 1<<20)...)},
	}
	for i := range 990 {
		give = append(give, run.Artifact{Name: fmt.Sprintf("%04d%s", i, strings.Repeat("n", 1000)), Data: []byte("z")})
	}
	for i := range give {
		give[i].Size, give[i].Type = policy.Bytes(len(give[i].Data)), "application/octet-stream"
	}
	s := fakeServer(t, func(o *service.Options, _ *mcpserver.Options) {
		o.Runner = withArtifacts{request: new(run.Request), give: give, omitted: 500}
	})
	client := startStdio(t, s)
	client.steps(t)
	client.send(t, toolLine(7, "run_python", given{"code": "print x", "artifacts": []string{"**"}}))
	line := client.receive(t)
	if len(line) > 5<<20 {
		t.Errorf("an answer of %d bytes", len(line))
	}
	var message rpcAnswer
	if err := json.Unmarshal(line, &message); err != nil {
		t.Fatal(err)
	}
	got := calledIn(t, message.Result)
	var summary []string
	for _, part := range got.Content[1:5] {
		summary = append(summary, fmt.Sprintf("%s %s %d %d %d", part.Type, part.Resource.MIMEType, len(part.Data), len(part.Resource.Text), len(part.Resource.Blob)))
	}
	// The second text is only data, for which there is room.
	if want := "[resource text/plain 0 204800 0 resource application/octet-stream 0 0 273068 image  2796224 0 0 resource text/plain 0 1 0]"; fmt.Sprint(summary) != want {
		t.Errorf("the parts are %s, want %s", summary, want)
	}
	list := artifactsOf(t, got)
	if len(list) > 70 || list[2].Error == "" || list[4].Error == "" || list[3].Error != "" {
		t.Errorf("%d artifacts: %.400v", len(list), list)
	}
	for _, want := range []string{"Files: text1 (204800 bytes, ", ", and 48 more.", "\nFiles left out: large: its 16777216 bytes are above what is left of the 3145728 that an answer holds: write less, or fetch it with read_file from a session; more: ", "\n1425 more files match artifacts: name fewer."} {
		if !strings.Contains(got.remark(), want) {
			t.Errorf("… %s does not have %q", got.remark()[max(0, len(got.remark())-400):], want)
		}
	}
	if len(got.remark()) > 16<<10 {
		t.Errorf("remarks of %d bytes", len(got.remark()))
	}
}
