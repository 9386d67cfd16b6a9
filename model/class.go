package model

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
)

// Class is what a player is told of a failure (spec 04 §6.7).
type Class string

// Classes of failures.
const (
	ClassRefused     Class = "refused"
	ClassConfig      Class = "config"
	ClassQuota       Class = "quota"
	ClassTimeout     Class = "timeout"
	ClassUnreachable Class = "unreachable"
	ClassAuth        Class = "auth"
	ClassNotFound    Class = "not_found"
	ClassRateLimited Class = "rate_limited"
	ClassOverloaded  Class = "overloaded"
	ClassServer      Class = "server"
	ClassBadRequest  Class = "bad_request"
	ClassUnknown     Class = "unknown"
)

// Classify gives the class of a failure; the first rule that fits decides.
func Classify(err error) Class {
	e := Normalize(err)
	kind := FaultKind(e.Detail("providerCode"), e.Detail("providerType"))
	lower := strings.ToLower(e.Message)
	switch {
	case e.Code == CodeRefusal:
		return ClassRefused
	case e.Code == CodeConfig:
		return ClassConfig
	case e.StatusCode == 402, kind == KindQuota, containsAny(lower, "quota", "balance", "billing"):
		return ClassQuota
	case e.Code == CodeBudgetExceeded, e.StatusCode == 408, e.StatusCode == 504, isTimeout(err):
		return ClassTimeout
	case e.StatusCode == 0 && unreachable(err):
		return ClassUnreachable
	case e.StatusCode == 401, e.StatusCode == 403, kind == KindAuth:
		return ClassAuth
	case e.StatusCode == 404, kind == KindNotFound:
		return ClassNotFound
	case e.StatusCode == 429, e.Code == CodeRateLimited:
		return ClassRateLimited
	case e.StatusCode == 503, e.StatusCode == 529:
		return ClassOverloaded
	case e.StatusCode >= 500:
		return ClassServer
	case e.StatusCode >= 400:
		return ClassBadRequest
	}
	return ClassUnknown
}

func isTimeout(err error) bool {
	var t net.Error
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.As(err, &t) && t.Timeout()
}

func unreachable(err error) bool {
	text := strings.ToLower(innermost(err).Error())
	return LinkFailure(err) || containsAny(text, "connection", "dns", "no such host", "tls", "certificate", "x509", "network is unreachable")
}

func containsAny(s string, fragments ...string) bool {
	return slices.ContainsFunc(fragments, func(f string) bool { return strings.Contains(s, f) })
}
