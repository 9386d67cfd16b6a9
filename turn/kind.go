package turn

// Kind is the closed list of error kinds. Each maps to a retry rule, an HTTP
// status and an exit code.
type Kind string

// Error kinds.
const (
	KindInvalid    Kind = "invalid"
	KindNotFound   Kind = "not-found"
	KindConflict   Kind = "conflict"
	KindInProgress Kind = "in-progress"
	KindRefused    Kind = "refused"
	KindBudget     Kind = "budget"
	KindOverloaded Kind = "overloaded"
	KindConfig     Kind = "config"
	KindProvider   Kind = "provider"
	KindInternal   Kind = "internal"
)

// HTTPStatus is the status an HTTP face answers for the kind.
func (k Kind) HTTPStatus() int {
	switch k {
	case KindInvalid:
		return 400
	case KindNotFound:
		return 404
	case KindConflict, KindInProgress:
		return 409
	case KindRefused, KindBudget:
		return 422
	case KindOverloaded:
		return 429
	case KindProvider:
		return 502
	default:
		return 500
	}
}

// ExitCode is the process exit code a command ends with for the kind.
func (k Kind) ExitCode() int {
	switch k {
	case KindNotFound:
		return 3
	case KindConflict, KindInProgress:
		return 4
	default:
		return 1
	}
}

// codesByKind lists every code of the chapters under its kind. A code that is
// in no list is internal.
var codesByKind = map[Kind][]string{
	KindInvalid: {
		"invalid_turn_input", "invalid_message", "invalid_resume_data", "plugin_mismatch", "invalid_payload",
		"output-schema-invalid", "INVALID_VALUE", "FOREIGN_ID", "RESERVED_NAMESPACE", "hidden-namespace", "bad-tag",
		"world-invalid", "plugin-invalid", "missing-provider", "ambiguous-provider", "world-data-unreceived",
	},
	KindNotFound: {
		"session_not_found", "suspension_not_found", "runtime_not_active", "retry_turn_not_found", "no_active_turn",
		"runtime_not_found", "NOT_FOUND", "turn_not_found", "world_not_found",
	},
	KindConflict: {
		"turn_id_conflict", "session_not_active", "steering_closed", "suspension_claimed", "suspension_closed",
		"retry_turn_not_committed", "approval_scope_changed", "dimension-version-conflict", "ALREADY_EXISTS",
		"VERSION_CONFLICT", "MARK_MISMATCH", "TURN_ALREADY_COMMITTED", "CHUNK_CONFLICT", "CHUNK_GAP", "STALE_ATTEMPT",
		"STREAM_CLOSED", "CONTINUATION_TAKEN", "CONTINUATION_CLOSED", "continuation_version_unknown", "continuation_malformed", CodeSessionLost, CodeDataDirLocked,
	},
	KindInProgress: {CodeTurnInProgress},
	KindRefused:    {"approval-required", CodeTurnAborted, "REFUSAL"},
	KindBudget: {
		CodeMaxSteps, CodeTimeout, CodeToolLoopDetected, "recursion_limit", CodeCorrectionLimit, CodeRequireToolUse,
		CodeRequireExplicit, "context-overflow", "REQUEST_BUDGET_EXCEEDED",
	},
	KindOverloaded: {"queue_full", "background_queue_full", "RATE_LIMITED"},
	KindConfig:     {"bad-limit", "bad-setting", "template-missing", "store-required", "CONFIG_ERROR"},
	KindProvider:   {"PROVIDER_ERROR", "SCHEMA_VALIDATION_FAILED", CodeEmptyNarrative, CodeToolFailedWithoutOutput},
	KindInternal: {
		"turn_commit_failed", "background_enqueue_failed", CodeHandlerError, "resume_placeholder_missing",
		"NESTED_TRANSACTION", CodeUnavailable,
	},
}

var kindByCode = func() map[string]Kind {
	m := map[string]Kind{}
	for kind, codes := range codesByKind {
		for _, code := range codes {
			m[code] = kind
		}
	}
	return m
}()

// KindOf gives the kind of a code; a code of no chapter is internal.
func KindOf(code string) Kind {
	if k, ok := kindByCode[code]; ok {
		return k
	}
	return KindInternal
}
