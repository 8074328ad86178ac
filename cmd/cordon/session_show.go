package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/run"
)

// show shows what the streams of a step have not shown already.
func (c *sessionConsole) show(ctx context.Context, res run.Result) error {
	if c.opts.json {
		if err := printJSON(c.stdout, res, false); err != nil {
			return outputLost(err)
		}
		return nil
	}
	for _, shown := range res.Step.Display {
		if ctx.Err() != nil {
			break
		}
		if err := c.display(shown); err != nil {
			return err
		}
	}
	if n := res.Step.Omitted; n > 0 {
		if err := c.warn("truncated: %s left out: a step may show 64, and no more than --result allows", countOf(n, "displayed object")); err != nil {
			return err
		}
	}
	how := c.how
	how.name = fmt.Sprintf("<step %d>", res.Step.Number)
	if err := present(c.stdout, c.stderr, res, how); err != nil {
		return outputLost(err)
	}
	return nil
}

// display shows an object: its text, and its picture.
func (c *sessionConsole) display(shown run.Display) error {
	if plain, has := shown.Forms["text/plain"]; has {
		if err := c.stdout.line(safeLines(plain)); err != nil {
			return outputLost(err)
		}
	}
	data, has := shown.Forms["image/png"]
	if !has {
		return nil
	}
	drawn, path, err := c.pictures.show(data)
	switch {
	case err != nil:
		return c.warn("picture: %v", err)
	case path != "":
		return c.warn("picture: %s", path)
	}
	if c.stdout.open {
		drawn = "\n" + drawn
	}
	if _, err := io.WriteString(c.stdout, drawn); err != nil {
		return outputLost(err)
	}
	return nil
}

// safeLines makes text of a guest safe to print. It keeps lines and tabs, which tables have.
func safeLines(s string) string {
	lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	for i, line := range lines {
		columns := strings.Split(strings.TrimSuffix(line, "\r"), "\t")
		for j, column := range columns {
			columns[j] = text.Line(column)
		}
		lines[i] = strings.Join(columns, "\t")
	}
	return strings.Join(lines, "\n")
}
