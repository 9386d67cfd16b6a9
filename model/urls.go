package model

import (
	"net/netip"
	"net/url"
	"regexp"
	"strings"
)

var (
	versionSegment = regexp.MustCompile(`/v[0-9][A-Za-z0-9]*(/openai)?$`)
	geminiModelID  = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)
	apiVersion     = regexp.MustCompile(`^/api/v[0-9][A-Za-z0-9]*`)
)

// CheckBaseURL checks what can be told of a base URL without a connection:
// https, or http on loopback, and a host. The error is CONFIG_ERROR.
func CheckBaseURL(base string) *Error {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return Configf("baseUrl: %q is not an http or https URL", base)
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return Configf("baseUrl: %q may hold no user, query or fragment", u.Redacted())
	}
	host := strings.ToLower(u.Hostname())
	if u.Scheme == "http" && host != "localhost" && !isLoopback(host) {
		return Configf("baseUrl: %q uses plain http; use https (http only for localhost, 127.0.0.1 and ::1)", base)
	}
	return nil
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && (addr.String() == "127.0.0.1" || addr.String() == "::1")
}

// EndpointURL joins a base URL and a path such as "/messages": a base without
// a version segment gets /v1, and nothing is doubled (spec 04 §5.1).
func EndpointURL(base, path string) string {
	base = strings.TrimRight(base, "/")
	if strings.HasPrefix(path, "/api/") {
		if v := apiVersion.FindString(path); v != "" && strings.HasSuffix(base, v) {
			path = strings.TrimPrefix(path, v)
		}
		return base + path
	}
	version := versionSegment.FindString(base)
	if version == "" {
		version = "/v1"
		base += version
	}
	if rest, ok := strings.CutPrefix(path, version+"/"); ok {
		path = "/" + rest
	}
	return base + path
}

// GeminiModelPath gives the path of a model, "/models/<id>", or CONFIG_ERROR
// for an id that may not stand in a URL.
func GeminiModelPath(id string) (string, *Error) {
	bare := strings.TrimPrefix(id, "models/")
	if !geminiModelID.MatchString(bare) {
		return "", Configf("model: %q is no Gemini model id; use letters, digits, '.', '_' and '-'", id)
	}
	return "/models/" + bare, nil
}

// origin is scheme, host and port of a URL, "" when there is none.
func origin(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return ""
	}
	host := strings.ToLower(u.Host)
	if u.Scheme == "https" {
		host = strings.TrimSuffix(host, ":443")
	}
	return u.Scheme + "://" + host
}
