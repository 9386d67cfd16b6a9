package tokens_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/covel-engine/covel/tokens"
)

func TestCovelCount(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		strings.Repeat("a", 40): 10, "灯火未明": 4, "灯火abcdefgh": 4, "": 0, "abc": 1, "Hello, 世界": 4,
		"\u2e7f": 1, "\u2e80": 1, "\u9fff\ua000": 2, "한국": 2, "！？": 2, "\xff\xfe": 1, "ééééé": 2,
	} {
		if got := (tokens.Covel{}).Count(text); got != want {
			t.Errorf("Count(%q) = %d, want %d", text, got, want)
		}
	}
}

func TestCovelCountIsTheRuleRuneByRune(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.String().Draw(rt, "text") + string(rapid.SliceOf(rapid.Byte()).Draw(rt, "bytes"))
		wide, other := 0, 0
		for _, r := range text {
			if r != utf8.RuneError && tokens.Wide(r) {
				wide++
			} else {
				other++
			}
		}
		if got, want := (tokens.Covel{}).Count(text), wide+(other+3)/4; got != want {
			rt.Fatalf("Count(%q) = %d, want %d", text, got, want)
		}
	})
}

func TestNew(t *testing.T) {
	t.Parallel()
	for _, name := range tokens.Names() {
		est, err := tokens.New(name)
		if err != nil || est.Name() != name {
			t.Fatalf("New(%q) = %v, %v", name, est, err)
		}
	}
	_, err := tokens.New("gpt9")
	var unknown *tokens.UnknownError
	if !errors.As(err, &unknown) || !strings.Contains(err.Error(), `"gpt9"`) || !strings.Contains(err.Error(), "o200k_base") {
		t.Fatalf("error %v does not name the value and the choices", err)
	}
}

func TestEncodingCounts(t *testing.T) {
	t.Parallel()
	est, err := tokens.New(tokens.NameR50K)
	if err != nil {
		t.Fatal(err)
	}
	if got := est.Count("hello world"); got != 2 {
		t.Errorf("hello world = %d tokens, want 2", got)
	}
	if got := est.Count(""); got != 0 {
		t.Errorf("empty = %d tokens", got)
	}
	line := "The keeper trims the lamp and counts the tides.\n"
	one, many := est.Count(line), est.Count(strings.Repeat(line, 500))
	if many != 500*one {
		t.Errorf("500 lines = %d tokens, want %d: a border was lost", many, 500*one)
	}
	if got := est.Count(strings.Repeat("x", 20_000)); got < 1000 {
		t.Errorf("a long word = %d tokens", got)
	}
}

type counting struct {
	mu    sync.Mutex
	calls int
}

func (c *counting) Name() string { return "counting" }

func (c *counting) Count(text string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	return len(text)
}

func TestCacheCountsOnceAndStaysBounded(t *testing.T) {
	t.Parallel()
	est := &counting{}
	cache := tokens.NewCache(est, tokens.CacheConfig{MaxEntries: 64, MinBytes: 1})
	text := strings.Repeat("lamp ", 20)
	for range 3 {
		if got := cache.Count(text); got != len(text) {
			t.Fatalf("Count = %d", got)
		}
	}
	if est.calls != 1 {
		t.Errorf("%d counts of the same text, want 1", est.calls)
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 200 {
				s := strings.Repeat("x", g*200+i+1)
				if cache.Count(s) != len(s) {
					t.Errorf("wrong count of %d bytes", len(s))
				}
			}
		})
	}
	wg.Wait()
	if got := cache.Len(); got > 64 {
		t.Errorf("%d counts remembered, want at most 64", got)
	}
}

func BenchmarkCovel(b *testing.B) {
	for name, text := range map[string]string{
		"ascii": strings.Repeat("The keeper trims the lamp and counts the tides. ", 4000),
		"han":   strings.Repeat("守灯人修剪灯芯，数着潮汐。", 5000),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				tokens.Covel{}.Count(text)
			}
		})
	}
}

func BenchmarkCacheHit(b *testing.B) {
	cache := tokens.NewCache(tokens.Covel{}, tokens.CacheConfig{})
	text := strings.Repeat("The keeper trims the lamp. ", 40)
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		cache.Count(text)
	}
}
