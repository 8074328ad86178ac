package httpapi

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/cordon-sandbox/cordon/run"
)

// inFiles calls do with the files of a session that belongs to the caller.
func (a *api) inFiles(r *http.Request, do func(run.Files) error) error {
	return a.Service.InFiles(who(r.Context()), r.PathValue("id"), do)
}

// files answers GET /v1/sessions/{id}/files.
func (a *api) files(w http.ResponseWriter, r *http.Request) error {
	if _, err := choose(r, jsonType); err != nil {
		return err
	}
	return a.inFiles(r, func(files run.Files) error {
		list, err := files.List()
		if err != nil {
			return err
		}
		a.write(w, r, http.StatusOK, jsonType, FileList{append([]run.FileInfo{}, list...)})
		return nil
	})
}

// download answers GET /v1/sessions/{id}/files/{name}, with ranges. The content is the guest's
// word: no browser shows it as a page of this service.
func (a *api) download(w http.ResponseWriter, r *http.Request) error {
	return a.inFiles(r, func(files run.Files) error {
		f, info, err := files.Open(r.PathValue("name"))
		if err != nil {
			return err
		}
		defer f.Close()
		head := w.Header()
		head.Set("Content-Type", info.Type)
		head.Set("Content-Disposition", "attachment; filename*=UTF-8''"+url.PathEscape(info.Name[strings.LastIndex(info.Name, "/")+1:]))
		head.Set("Content-Security-Policy", "sandbox")
		out := &ranged{paced: a.pace(w, int64(info.Size))}
		http.ServeContent(out, r, "", info.Modified, f)
		if out.refused {
			return withStatus(http.StatusRequestedRangeNotSatisfiable, run.Invalid, "the file has %d bytes, and the Range %q is outside of them", int64(info.Size), r.Header.Get("Range"))
		}
		return nil
	})
}

// ranged holds back the answer of package http to a range outside of a file, which is not a
// Problem.
type ranged struct {
	*paced
	refused bool
}

func (w *ranged) WriteHeader(status int) {
	if w.refused = status == http.StatusRequestedRangeNotSatisfiable; !w.refused {
		w.paced.WriteHeader(status)
	}
}

func (w *ranged) Write(data []byte) (int, error) {
	if w.refused {
		return len(data), nil
	}
	return w.paced.Write(data)
}

// upload answers PUT /v1/sessions/{id}/files/{name}: the body is the content of the file.
func (a *api) upload(w http.ResponseWriter, r *http.Request) error {
	if coding := strings.Join(r.Header.Values("Content-Encoding"), ", "); coding != "" && !strings.EqualFold(coding, "identity") {
		return withStatus(http.StatusUnsupportedMediaType, run.Invalid, "the body has the Content-Encoding %q: send it as it is", coding)
	}
	if hasKey(r) {
		return run.Errorf(run.Invalid, "an Idempotency-Key is only for runs, steps and calls of hooks: leave it out here")
	}
	if r.ContentLength > a.MaxBody {
		return a.tooLarge()
	}
	return a.inFiles(r, func(files run.Files) error {
		body := &uploaded{body: r.Body}
		info, err := files.Write(r.PathValue("name"), body)
		if body.err != nil {
			return a.bodyError(body.err)
		}
		if err != nil {
			return err
		}
		a.write(w, r, http.StatusCreated, jsonType, info)
		return nil
	})
}

// uploaded is a body that remembers its error: the other errors of an upload are those of the
// file.
type uploaded struct {
	body io.Reader
	err  error
}

func (u *uploaded) Read(p []byte) (int, error) {
	n, err := u.body.Read(p)
	if err != nil && err != io.EOF {
		u.err = fmt.Errorf("body: %w", err)
	}
	return n, err
}

// removeFile answers DELETE /v1/sessions/{id}/files/{name}.
func (a *api) removeFile(w http.ResponseWriter, r *http.Request) error {
	return noContent(w, a.inFiles(r, func(files run.Files) error { return files.Remove(r.PathValue("name")) }))
}
