package jsonlines

import (
	"bytes"
	"encoding/base64"
	"io"

	"github.com/cordon-sandbox/cordon/internal/jsonform"
	"github.com/cordon-sandbox/cordon/internal/workdir"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// fileOrders are the orders for the files of a session.
type fileOrders struct {
	FileList   string     `json:"file_list,omitempty"` // the id of the session
	FileRead   *fileName  `json:"file_read,omitempty"`
	FileWrite  *fileWrite `json:"file_write,omitempty"`
	FileRemove *fileName  `json:"file_remove,omitempty"`
	Now        bool       `json:"now,omitempty"` // do not wait for earlier lines of the session
}

type fileName struct {
	Session string `json:"session"`
	Name    string `json:"name"`
}

type fileWrite struct {
	Session string `json:"session"`
	jsonform.File
}

// which returns the key of the order and the session whose files it is for; no key if there is
// no order for files.
func (f *fileOrders) which() (key, session string) {
	switch {
	case f.FileList != "":
		return "file_list", f.FileList
	case f.FileRead != nil:
		return "file_read", f.FileRead.Session
	case f.FileWrite != nil:
		return "file_write", f.FileWrite.Session
	case f.FileRemove != nil:
		return "file_remove", f.FileRemove.Session
	}
	return "", ""
}

func (f *fileOrders) isFiles() bool {
	key, _ := f.which()
	return key != ""
}

func (o *order) checkFiles() error {
	key, session := o.which()
	if session == "" {
		return wrongField(key+".session", "is missing: write the id of an open session")
	}
	return o.standsAlone(key, "leave them out")
}

// fileDone is the answer to an order for files, apart from the content of a file that is read.
type fileDone struct {
	ID     string         `json:"id"`
	Status run.Status     `json:"status"`
	Files  []run.FileInfo `json:"files,omitzero"`
	File   *run.FileInfo  `json:"file,omitempty"` // last, see fileAnswer.encode
}

// fileAnswer is such an answer with the content.
type fileAnswer struct {
	text    []byte // a fileDone
	content []byte // nil if no file is read
	release func() // gives back the room for the answer
}

// encode writes the content in pieces, as the last field of the file.
func (a fileAnswer) encode(out io.Writer) error {
	head, end := a.text, "\n"
	if a.content != nil {
		head, end = append(bytes.TrimSuffix(a.text, []byte("}}")), `,"base64":"`...), "\"}}\n"
	}
	_, _ = out.Write(head)
	content := base64.NewEncoder(base64.StdEncoding, out)
	_, _ = content.Write(a.content)
	_ = content.Close()
	_, err := io.WriteString(out, end) // a bufio.Writer keeps its first error
	return err
}

// inFiles carries out an order for the files of a session.
func (s *server) inFiles(o order) (any, error) {
	_, session := o.which()
	one, err := s.sessions.Use(owner, session)
	if err != nil {
		return nil, err
	}
	defer s.sessions.Done(one)
	files, err := one.Held.Files()
	var answer fileAnswer
	if err == nil {
		answer, err = s.doFiles(files, o)
	}
	s.sessions.EndIfGone(one, err)
	return answer, err
}

func (s *server) doFiles(files run.Files, o order) (a fileAnswer, err error) {
	done := fileDone{ID: o.ID, Status: run.StatusOK}
	switch {
	case o.FileRead != nil:
		return s.readFile(files, o.FileRead.Name, done)
	case o.FileWrite != nil:
		done.File, err = writeFile(files, o.FileWrite.Run())
	case o.FileRemove != nil:
		err = files.Remove(o.FileRemove.Name)
	default:
		var list []run.FileInfo
		list, err = files.List()
		done.Files = append([]run.FileInfo{}, list...)
	}
	if err == nil {
		a.text, err = jsonform.Document(done)
	}
	if err == nil {
		a.release = s.reserve(int64(len(a.text)))
	}
	return a, err
}

// readFile reads a file as soon as there is room for it among the answers.
func (s *server) readFile(files run.Files, name string, done fileDone) (a fileAnswer, err error) {
	f, info, err := files.Open(name)
	if err != nil {
		return a, err
	}
	defer f.Close()
	if info.Size > run.MaxPayload {
		return a, run.Errorf(run.Invalid, "%s has %v, and the most in an answer is %v: let a step split it", name, info.Size, policy.Bytes(run.MaxPayload))
	}
	a.release = s.reserve(int64(info.Size))
	// A step may write to it meanwhile.
	a.content, err = io.ReadAll(io.LimitReader(f, int64(info.Size)))
	if err == nil {
		info.Size = policy.Bytes(len(a.content))
		done.File = &info
		a.text, err = jsonform.Document(done)
	}
	if err != nil {
		a.release()
	}
	return a, err
}

func writeFile(files run.Files, f run.File) (*run.FileInfo, error) {
	var from io.Reader = bytes.NewReader(f.Data)
	if f.Path != "" {
		file, err := workdir.OpenFile(f.Path)
		if err != nil {
			return nil, wrongField("file_write.path", err.Error())
		}
		defer file.Close()
		from = file
	}
	info, err := files.Write(f.Name, from)
	return &info, err
}
