package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
)

// LinkFailure says whether an error is a known failure of the link, after which
// the same bytes may be sent again: refused, reset, broken pipe, closed before
// an answer, temporary DNS failure. Timeouts, cancellations, certificates and
// the mere word "network" are none (spec 04 §6.5).
func LinkFailure(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || certificateFault(err) {
		return false
	}
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return dns.IsTemporary && !dns.IsTimeout
	}
	for _, target := range []error{syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE, syscall.ECONNABORTED, io.EOF, io.ErrUnexpectedEOF} {
		if errors.Is(err, target) {
			return true
		}
	}
	text := err.Error() // net/http keeps these without a type
	return strings.Contains(text, "server closed idle connection") || strings.Contains(text, "http2: server sent GOAWAY")
}

func certificateFault(err error) bool {
	var verification *tls.CertificateVerificationError
	var invalid x509.CertificateInvalidError
	var authority x509.UnknownAuthorityError
	var hostname x509.HostnameError
	return errors.As(err, &verification) || errors.As(err, &invalid) || errors.As(err, &authority) || errors.As(err, &hostname)
}
