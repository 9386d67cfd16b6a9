package plugin

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// version is a semantic version without build metadata.
type version struct {
	major, minor, patch int
	pre                 string
}

func (v version) String() string {
	s := fmt.Sprintf("%d.%d.%d", v.major, v.minor, v.patch)
	if v.pre != "" {
		s += "-" + v.pre
	}
	return s
}

var errVersion = errors.New("not a semantic version")

func parseVersion(s string) (version, error) {
	s, _, _ = strings.Cut(strings.TrimPrefix(s, "v"), "+")
	core, pre, _ := strings.Cut(s, "-")
	parts := strings.Split(core, ".")
	if len(parts) != 3 {
		return version{}, errVersion
	}
	v := version{pre: pre}
	for i, to := range []*int{&v.major, &v.minor, &v.patch} {
		n, err := strconv.Atoi(parts[i])
		if err != nil || n < 0 {
			return version{}, errVersion
		}
		*to = n
	}
	return v, nil
}

func (v version) compare(o version) int {
	for _, d := range []int{v.major - o.major, v.minor - o.minor, v.patch - o.patch} {
		if d != 0 {
			return d
		}
	}
	switch {
	case v.pre == o.pre:
		return 0
	case v.pre == "":
		return 1
	case o.pre == "":
		return -1
	}
	return strings.Compare(v.pre, o.pre)
}

// rangeAllows reads a range of comparators: >= > <= < = ^ ~, x or * as
// wildcards, blanks mean and, || means or.
func rangeAllows(r string, v version) (bool, error) {
	allowed := false
	for alternative := range strings.SplitSeq(r, "||") {
		fits := true
		fields := strings.Fields(alternative)
		if len(fields) == 0 {
			return false, errors.New("an empty range")
		}
		for _, comparator := range fields {
			ok, err := comparatorAllows(comparator, v)
			if err != nil {
				return false, err
			}
			fits = fits && ok
		}
		allowed = allowed || fits
	}
	return allowed, nil
}

func comparatorAllows(c string, v version) (bool, error) {
	op := c[:len(c)-len(strings.TrimLeft(c, "<>=^~"))]
	low, high, err := wildcard(c[len(op):])
	if err != nil {
		return false, fmt.Errorf("%q: %w", c, err)
	}
	switch op {
	case "", "=":
		return v.compare(low) >= 0 && (high == nil && v.compare(low) == 0 || high != nil && v.compare(*high) < 0), nil
	case ">=":
		return v.compare(low) >= 0, nil
	case "<":
		return v.compare(low) < 0, nil
	case ">":
		if high != nil {
			return v.compare(*high) >= 0, nil
		}
		return v.compare(low) > 0, nil
	case "<=":
		if high != nil {
			return v.compare(*high) < 0, nil
		}
		return v.compare(low) <= 0, nil
	case "~":
		return v.compare(low) >= 0 && v.compare(version{major: low.major, minor: low.minor + 1}) < 0, nil
	case "^":
		top := version{major: low.major + 1}
		if low.major == 0 {
			top = version{minor: low.minor + 1}
		}
		return v.compare(low) >= 0 && v.compare(top) < 0, nil
	}
	return false, fmt.Errorf("%q: unknown comparator", c)
}

// wildcard reads a version whose last parts may be missing, x or *; high is the
// first version above the wildcard, nil for a full version.
func wildcard(s string) (low version, high *version, err error) {
	if v, err := parseVersion(s); err == nil {
		return v, nil, nil
	}
	parts := strings.Split(s, ".")
	var numbers []int
	for _, p := range parts {
		if p == "x" || p == "X" || p == "*" {
			break
		}
		n, err := strconv.Atoi(p)
		if err != nil || n < 0 || p == "" {
			return low, nil, errVersion
		}
		numbers = append(numbers, n)
	}
	switch len(numbers) {
	case 0:
		return version{}, &version{major: 1 << 30}, nil
	case 1:
		return version{major: numbers[0]}, &version{major: numbers[0] + 1}, nil
	case 2:
		return version{major: numbers[0], minor: numbers[1]}, &version{major: numbers[0], minor: numbers[1] + 1}, nil
	}
	return low, nil, errVersion
}
