package tokens

// Estimator counts the tokens of a text. Implementations are pure and safe for
// concurrent use.
type Estimator interface {
	// Name is covel or a tiktoken encoding.
	Name() string
	Count(text string) int
}
