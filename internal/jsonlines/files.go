package jsonlines

import (
	"bytes"
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

// fileDone is the answer to an order for files.
type fileDone struct {
	ID     string         `json:"id"`
	Status run.Status     `json:"status"`
	Files  []run.FileInfo `json:"files,omitzero"`
	File   *run.FileInfo  `json:"file,omitempty"`
}

// size returns about how large it is as JSON, and no less.
func (f fileDone) size() int64 {
	const fixed = 150 // of an entry, without its texts
	size := fixed + len(f.ID)
	for _, info := range f.Files {
		size += fixed + 2*len(info.Name) + len(info.Type) // each character of a name may be escaped
	}
	return int64(size)
}

// fileContent is the answer with a file that was read.
type fileContent struct {
	id      string
	info    run.FileInfo
	content []byte
	release func() // gives back the room for the answer
}

func (f fileContent) encode(out io.Writer) error {
	return jsonform.EncodeFile(out, fileDone{ID: f.id, Status: run.StatusOK}, f.info, f.content)
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
	var answer any
	if err == nil {
		answer, err = s.doFiles(files, o)
	}
	s.sessions.EndIfGone(one, err)
	return answer, err
}

func (s *server) doFiles(files run.Files, o order) (any, error) {
	var err error
	done := fileDone{ID: o.ID, Status: run.StatusOK}
	switch {
	case o.FileRead != nil:
		return s.readFile(files, o.FileRead.Name, o.ID)
	case o.FileWrite != nil:
		done.File, err = writeFile(files, o.FileWrite.Run())
	case o.FileRemove != nil:
		err = files.Remove(o.FileRemove.Name)
	default:
		var list []run.FileInfo
		list, err = files.List()
		done.Files = append([]run.FileInfo{}, list...)
	}
	return done, err
}

// readFile reads a file as soon as there is room for it among the answers.
func (s *server) readFile(files run.Files, name, id string) (a fileContent, err error) {
	f, info, err := files.Open(name)
	if err != nil {
		return a, err
	}
	defer f.Close()
	if info.Size > run.MaxPayload {
		return a, run.Errorf(run.Invalid, "%s has %v, and the most in an answer is %v: let a step split it", name, info.Size, policy.Bytes(run.MaxPayload))
	}
	a = fileContent{id: id, info: info, release: s.reserve(int64(info.Size))}
	// A step may write to it meanwhile.
	a.content, err = io.ReadAll(io.LimitReader(f, int64(info.Size)))
	a.info.Size = policy.Bytes(len(a.content))
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
