package mcpclient

import (
	"path/filepath"
)

// client describes how a program that uses MCP servers is configured.
type client struct {
	name, title string
	format      format
	// key is the path of the object that holds the servers.
	key string
	// user returns the path of the user's file. project is the path of the file in a
	// project's directory; empty means that the client has none.
	user    func(how How) string
	project string
	// entry returns the fields of the server's entry, in the order in which they are written.
	entry func(how How) []field
	// fresh has the other fields of a new file.
	fresh []field
	// add is the client's own command that adds a server, for clients whose file cordon
	// does not edit.
	add func(how How) []string
	// onlyCommands means that the file cannot have URLs: the client takes them elsewhere.
	onlyCommands bool
	note         string
}

// field is a name and its value: a string, a bool, a []string or a []field.
type field struct {
	name  string
	value any
}

// The entries follow what the programs themselves write and accept.
var clients = []client{
	{
		name: "claude-code", title: "Claude Code", format: jsonFormat, key: "mcpServers",
		user: inHome(".claude.json"), project: ".mcp.json",
		entry: func(how How) []field { return typed(how, "stdio", "http") },
	},
	{
		name: "claude-desktop", title: "Claude Desktop", format: jsonFormat, key: "mcpServers",
		user: func(how How) string {
			return filepath.Join(applicationDirectory(how), "Claude", "claude_desktop_config.json")
		},
		entry: plain, onlyCommands: true, note: "Start Claude Desktop again.",
	},
	{
		name: "cursor", title: "Cursor", format: jsonFormat, key: "mcpServers",
		user: inHome(".cursor/mcp.json"), project: ".cursor/mcp.json",
		entry: func(how How) []field {
			if how.URL != "" {
				return remote(how, "", "Bearer ${env:CORDON_TOKEN}")
			}
			return plain(how)
		},
	},
	{
		name: "vscode", title: "VS Code", format: jsonFormat, key: "servers",
		user: func(how How) string {
			return filepath.Join(applicationDirectory(how), "Code", "User", "mcp.json")
		},
		project: ".vscode/mcp.json",
		entry:   func(how How) []field { return typed(how, "stdio", "http") },
	},
	{
		name: "codex", title: "Codex", format: tomlFormat, key: "mcp_servers",
		user: inHome(".codex/config.toml"), project: ".codex/config.toml",
		entry: func(how How) []field {
			if how.URL == "" {
				return plain(how)
			}
			entry := []field{{"url", how.URL}}
			if how.Token != "" {
				entry = append(entry, field{"bearer_token_env_var", "CORDON_TOKEN"})
			}
			return entry
		},
		add: func(how How) []string {
			if how.URL != "" {
				words := []string{"codex", "mcp", "add", how.Name, "--url", how.URL}
				if how.Token != "" {
					words = append(words, "--bearer-token-env-var", "CORDON_TOKEN")
				}
				return words
			}
			words := []string{"codex", "mcp", "add", how.Name}
			for _, f := range sorted(how.Env) {
				words = append(words, "--env", f.name+"="+how.Env[f.name])
			}
			return append(append(words, "--"), how.Command...)
		},
	},
	{
		name: "gemini", title: "Gemini CLI", format: jsonFormat, key: "mcpServers",
		user: inHome(".gemini/settings.json"), project: ".gemini/settings.json",
		entry: func(how How) []field {
			if how.URL != "" {
				return append([]field{{"url", how.URL}, {"type", "http"}}, headers(how, "")...)
			}
			return plain(how)
		},
		note: "Gemini CLI starts servers in directories that you trust.",
	},
	{
		name: "copilot", title: "GitHub Copilot CLI", format: jsonFormat, key: "mcpServers",
		user: inHome(".copilot/mcp-config.json"), project: ".mcp.json",
		entry: func(how How) []field {
			return append([]field{{"tools", []string{"*"}}}, typed(how, "local", "http")...)
		},
	},
	{
		name: "opencode", title: "opencode", format: jsonFormat, key: "mcp",
		user: inHome(".config/opencode/opencode.json"), project: "opencode.json",
		entry: func(how How) []field {
			if how.URL != "" {
				return append([]field{{"type", "remote"}, {"url", how.URL}, {"enabled", true}}, headers(how, "")...)
			}
			entry := []field{{"type", "local"}, {"command", how.Command}, {"enabled", true}}
			if len(how.Env) > 0 {
				entry = append(entry, field{"environment", sorted(how.Env)})
			}
			return entry
		},
		fresh: []field{{"$schema", "https://opencode.ai/config.json"}},
	},
	{
		name: "zed", title: "Zed", format: jsonFormat, key: "context_servers",
		user: func(how How) string {
			if how.System == "windows" {
				return filepath.Join(applicationDirectory(how), "Zed", "settings.json")
			}
			return filepath.Join(how.Home, ".config", "zed", "settings.json")
		},
		project: ".zed/settings.json",
		entry: func(how How) []field {
			if how.URL != "" {
				return remote(how, "", "")
			}
			return plain(how)
		},
	},
}

func (c client) path(how How) string {
	if how.Project != "" {
		return filepath.Join(how.Project, filepath.FromSlash(c.project))
	}
	return c.user(how)
}

func inHome(path string) func(How) string {
	return func(how How) string { return filepath.Join(how.Home, filepath.FromSlash(path)) }
}

// applicationDirectory returns the directory in which desktop applications keep the
// user's settings.
func applicationDirectory(how How) string {
	switch how.System {
	case "darwin":
		return filepath.Join(how.Home, "Library", "Application Support")
	case "windows":
		return filepath.Join(how.Home, "AppData", "Roaming")
	}
	return filepath.Join(how.Home, ".config")
}

// plain returns the entry that most clients use: a command, its arguments and its
// environment.
func plain(how How) []field {
	entry := []field{{"command", how.Command[0]}, {"args", append([]string{}, how.Command[1:]...)}}
	if len(how.Env) > 0 {
		entry = append(entry, field{"env", sorted(how.Env)})
	}
	return entry
}

// typed returns an entry whose first field is the type of the transport.
func typed(how How, command, url string) []field {
	if how.URL != "" {
		return remote(how, url, "")
	}
	return append([]field{{"type", command}}, plain(how)...)
}

func remote(how How, kind, bearer string) []field {
	entry := []field{{"url", how.URL}}
	if kind != "" {
		entry = append([]field{{"type", kind}}, entry...)
	}
	return append(entry, headers(how, bearer)...)
}

// headers returns the field that carries the token. bearer, if not empty, is sent instead:
// it names the variable from which the client takes the token.
func headers(how How, bearer string) []field {
	if how.Token == "" {
		return nil
	}
	if bearer == "" {
		bearer = "Bearer " + how.Token
	}
	return []field{{"headers", []field{{"Authorization", bearer}}}}
}
