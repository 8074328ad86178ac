package hints

import (
	"strings"

	"github.com/cordon-sandbox/cordon/run"
)

// The codes for files.
const (
	ReturnData run.HintCode = "return_data" // scratch
	PathInside run.HintCode = "path_inside" // path
)

var files = table{
	ReturnData: everyone("only {scratch} can be written to, and it is gone after the run: return the data in result instead"),
	PathInside: everyone("inside it is called {path}"),
}

// The codes for connections of guests: what the proxy expects of a client.
const (
	UseProxy     run.HintCode = "use_proxy"
	PlainHost    run.HintCode = "plain_host"
	OnlyTCP      run.HintCode = "only_tcp"
	UsualTLS     run.HintCode = "usual_tls"
	NewerTLS     run.HintCode = "newer_tls"
	ReadableName run.HintCode = "readable_server_name"
	SendName     run.HintCode = "send_server_name"
	SameHost     run.HintCode = "same_host"
	OnePiece     run.HintCode = "one_piece"
	ShortHeaders run.HintCode = "short_headers"
	OwnRequests  run.HintCode = "own_requests"
)

var hosts = table{
	UseProxy:     everyone("guests can only connect to the proxy: use a client that obeys HTTPS_PROXY (urllib, requests), and let the proxy resolve names"),
	PlainHost:    inAllowNet("only {hosts} can be reached from this sandbox: write the host as a plain name or address"),
	OnlyTCP:      inAllowNet("only TCP connections to {hosts} can be made from this sandbox: no UDP, no listening"),
	UsualTLS:     everyone("use TLS as its libraries write it"),
	NewerTLS:     everyone("use TLS 1.2 or later"),
	ReadableName: everyone("turn the encrypted ClientHello (ECH) of the client off: the name of the server must be readable"),
	SendName:     everyone("let the client send the server's name (SNI), as all do by default"),
	SameHost:     everyone("connect to the host that the TLS server name says: a tunnel is for one host only"),
	OnePiece:     everyone("send the first message of a connection in one piece"),
	ShortHeaders: everyone("keep the headers of a request below 64 KiB"),
	OwnRequests:  everyone("send only requests for this host through its tunnel, each with a Host header"),
}

// inAllowNet is for everyone, by the name of the list that they know.
func inAllowNet(sentence string) words {
	inPolicy := strings.ReplaceAll(sentence, "{hosts}", "hosts in allow_net")
	return words{Embedder: inPolicy, CommandLine: inPolicy, Agent: strings.ReplaceAll(sentence, "{hosts}", "the allowed hosts")}
}
