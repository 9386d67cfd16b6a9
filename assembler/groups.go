package assembler

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"github.com/covel-engine/covel/model"
)

// group is an assistant message with tool calls and exactly its results, in
// call order (spec 01 §15.6). It points into the original request.
type group struct {
	from int // index of the assistant message
	size int
	id   string
}

// findGroups finds the complete groups of a request. Incomplete or disordered
// ones are no groups.
func findGroups(messages []model.Message) []group {
	var groups []group
	for i := 0; i < len(messages); i++ {
		n := len(messages[i].ToolCalls)
		if messages[i].Role != model.RoleAssistant || n == 0 || !complete(messages[i:], n) {
			continue
		}
		groups = append(groups, group{from: i, size: n + 1, id: groupID(messages[i : i+n+1])})
		i += n
	}
	return groups
}

func complete(messages []model.Message, calls int) bool {
	if len(messages) <= calls {
		return false
	}
	for i, c := range messages[0].ToolCalls {
		if r := messages[1+i]; r.Role != model.RoleTool || r.ToolCallID != c.ID {
			return false
		}
	}
	return len(messages) == calls+1 || messages[calls+1].Role != model.RoleTool
}

// groupID identifies a group by its call ids, tool names, arguments and original
// results, wherever it stands: the first 32 hex digits of a SHA-256.
func groupID(messages []model.Message) string {
	h := sha256.New()
	var size [8]byte
	var buf []byte
	write := func(text string) {
		binary.LittleEndian.PutUint64(size[:], uint64(len(text)))
		buf = append(append(buf, size[:]...), text...)
	}
	for i, c := range messages[0].ToolCalls {
		write(c.ID)
		write(c.Name)
		write(c.Arguments)
		write(messages[1+i].Content)
		for _, p := range messages[1+i].Parts {
			write(p.Text + p.Image + p.MediaRef)
		}
		h.Write(buf)
		buf = buf[:0]
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
