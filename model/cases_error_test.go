package model_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"syscall"
	"testing"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/model/transport"
)

var errorCases = cases{
	"M-100": func(t *testing.T) {
		e := model.Normalize(&url.Error{Op: "Post", URL: "https://x", Err: os.NewSyscallError("read", syscall.ECONNRESET)})
		if e.Code != model.CodeProvider || !e.Retriable || model.Classify(e) != model.ClassUnreachable {
			t.Errorf("%+v, class %s", e, model.Classify(e))
		}
		for _, err := range []error{
			x509.CertificateInvalidError{Reason: x509.Expired}, os.ErrDeadlineExceeded, context.DeadlineExceeded, context.Canceled, errors.New("network is great"),
		} {
			if e := model.Normalize(fmt.Errorf("send: %w", err)); e.Code != model.CodeProvider || e.Retriable {
				t.Errorf("%v: %+v", err, e)
			}
		}
		typed := &model.Error{Code: model.CodeRefusal, Message: "no"}
		if model.Normalize(fmt.Errorf("send: %w", typed)) != typed {
			t.Error("a typed error changed")
		}
	},
	"M-101": func(t *testing.T) {
		_, err := replied(t, relay(model.ProtocolChat, "m"), says(user("u")), answer{
			status: 429, body: `{"error":{"code":"insufficient_quota","message":"pay first"}}`, header: map[string]string{"x-should-retry": "false"},
		})
		e := fails(t, err, model.CodeRateLimited)
		if e.Message != "[openai-chat-v1] HTTP 429 — pay first" || e.StatusCode != 429 || e.Detail("providerCode") != "insufficient_quota" || !e.Retriable || model.Classify(e) != model.ClassQuota {
			t.Errorf("%+v, class %s", e, model.Classify(e))
		}
	},
	"M-102": func(t *testing.T) {
		for status, fault := range map[int]string{400: "tool_arguments_not_json", 500: ""} {
			e := model.Fault{Protocol: model.ProtocolChat, Status: status, Message: "messages.2: function arguments must be valid JSON"}.Error()
			if e.Detail("requestFault") != fault {
				t.Errorf("%d: %q", status, e.Detail("requestFault"))
			}
		}
	},
	"M-103": func(t *testing.T) {
		for _, c := range []struct {
			code, typ string
			kind      model.Kind
		}{
			{"insufficient_quota", "", model.KindQuota}, {"", "authentication_error", model.KindAuth}, {"PERMISSION_DENIED", "", model.KindAuth},
			{"x_content_filter", "", model.KindRefusal}, {"rate_limit_exceeded", "server_error", model.KindNone}, {"nope", "invalid_request_error", model.KindInvalidRequest},
		} {
			if kind := model.FaultKind(c.code, c.typ); kind != c.kind {
				t.Errorf("(%s, %s) is %q, want %q", c.code, c.typ, kind, c.kind)
			}
		}
	},
	"M-104": func(t *testing.T) {
		endless := &counted{}
		f := &fake{steps: []step{{status: 400, reader: func(context.Context) io.Reader { return endless }}}}
		timed(t, f, says(user("u")), func(_ *model.Result, err error) {
			e := fails(t, err, model.CodeProvider)
			if e.StatusCode != 400 || string(e.Details["bodyTruncated"]) != "true" {
				t.Errorf("%+v", e)
			}
		})
		if endless.n < transport.MaxErrorBody || endless.n > transport.MaxErrorBody+64<<10 || !f.left[0].closed {
			t.Errorf("%d bytes read, closed %v", endless.n, f.left[0].closed)
		}
	},
}

// counted is a body that never ends.
type counted struct{ n int }

func (c *counted) Read(p []byte) (int, error) {
	c.n += len(p)
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
