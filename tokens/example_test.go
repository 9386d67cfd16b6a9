package tokens_test

import (
	"fmt"

	"github.com/covel-engine/covel/tokens"
)

func ExampleNew() {
	est, err := tokens.New("covel")
	if err != nil {
		panic(err)
	}
	counts := tokens.NewCache(est, tokens.CacheConfig{})
	fmt.Println(counts.Name(), counts.Count("I light the lamp."), counts.Count("灯火未明"))
	// Output: covel 5 4
}
