package workdir

import (
	"path"
	"strings"
)

// typeOf returns the MIME type that a name stands for. The table is ours: the one of package
// mime depends on the files of the host.
func typeOf(name string) string {
	if t, known := types[strings.ToLower(path.Ext(name))]; known {
		return t
	}
	return "application/octet-stream"
}

var types = map[string]string{
	".csv": "text/csv", ".tsv": "text/tab-separated-values", ".txt": "text/plain", ".log": "text/plain", ".md": "text/markdown",
	".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".py": "text/x-python", ".xml": "application/xml",
	".json": "application/json", ".jsonl": "application/jsonl", ".ndjson": "application/x-ndjson", ".ipynb": "application/x-ipynb+json",
	".yaml": "application/yaml", ".yml": "application/yaml", ".toml": "application/toml", ".sql": "application/sql",
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp", ".svg": "image/svg+xml",
	".bmp": "image/bmp", ".ico": "image/vnd.microsoft.icon", ".tif": "image/tiff", ".tiff": "image/tiff", ".avif": "image/avif",
	".pdf": "application/pdf", ".zip": "application/zip", ".gz": "application/gzip", ".tar": "application/x-tar", ".wasm": "application/wasm",
	".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", ".xls": "application/vnd.ms-excel",
	".docx":    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	".pptx":    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
	".parquet": "application/vnd.apache.parquet", ".npy": "application/x-npy", ".sqlite": "application/vnd.sqlite3", ".db": "application/vnd.sqlite3",
	".mp3": "audio/mpeg", ".wav": "audio/wav", ".ogg": "audio/ogg", ".mp4": "video/mp4", ".webm": "video/webm",
}
