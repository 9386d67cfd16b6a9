package tokens

import (
	"fmt"
	"strings"
)

// Names of estimators (spec 02 §2.2).
const (
	NameCovel  = "covel"
	NameO200K  = "o200k_base"
	NameCL100K = "cl100k_base"
	NameP50K   = "p50k_base"
	NameR50K   = "r50k_base"
)

// Names lists every estimator that New knows.
func Names() []string { return []string{NameCovel, NameO200K, NameCL100K, NameP50K, NameR50K} }

// UnknownError is a tokenizer name that no estimator has.
type UnknownError struct{ Name string }

// Error names the value and the allowed ones.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("tokenizer %q is not known; use one of %s", e.Name, strings.Join(Names(), ", "))
}

// New gives the estimator of a name; "" means covel. An unknown name is an
// *UnknownError.
func New(name string) (Estimator, error) {
	switch name {
	case "", NameCovel:
		return Covel{}, nil
	case NameO200K, NameCL100K, NameP50K, NameR50K:
		return newEncoding(name), nil
	default:
		return nil, &UnknownError{Name: name}
	}
}
