package assembler

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/covel-engine/covel/assembler/ordered"
	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/session"
)

// MaxPictures is how many pictures a story runtime is shown.
const MaxPictures = 2

const pictureRunes = 600

// PictureRow is the history row of a picture that was shown (spec 01 §13.1):
// content and the ui member that holds the media reference. The description is
// meta.caption, else meta.prompt. Ids, sequence and time are the caller's.
func PictureRow(texts *locale.Texts, lang locale.Lang, mediaRef string, meta json.RawMessage) session.Message {
	description := pictureDescription(meta)
	content := texts.Get(lang, "T28", nil)
	if description != "" {
		content = texts.Get(lang, "T29", map[string]string{"description": description})
	}
	ui := ordered.Obj(
		ordered.Member{Key: "kind", Value: ordered.Str(pictureKind)},
		ordered.Member{Key: "mediaRef", Value: ordered.Str(mediaRef)},
		ordered.Member{Key: "description", Value: ordered.Str(description)},
	)
	return session.Message{
		SourceType: session.SourceSystem, Role: session.RoleUser, Content: content, UI: ui.Append(nil),
	}
}

const pictureKind = "picture"

func pictureDescription(meta json.RawMessage) string {
	v, err := jsonValue(meta)
	if err != nil {
		return ""
	}
	for _, key := range []string{"caption", "prompt"} {
		if text, ok := textMember(v, key); ok && !blank(text) {
			return Cut(Fold(clean(text)), pictureRunes, "")
		}
	}
	return ""
}

// IsPictureRow says whether a row is a picture's description. Such rows never
// count as a turn.
func IsPictureRow(m session.Message) bool {
	_, ok := pictureOf(m)
	return ok
}

func pictureOf(m session.Message) (Picture, bool) {
	if m.SourceType != session.SourceSystem || m.Role != session.RoleUser || len(m.UI) == 0 {
		return Picture{}, false
	}
	ui, err := jsonValue(m.UI)
	if err != nil {
		return Picture{}, false
	}
	if kind, _ := textMember(ui, "kind"); kind != pictureKind {
		return Picture{}, false
	}
	ref, ok := textMember(ui, "mediaRef")
	description, _ := textMember(ui, "description")
	return Picture{Description: description, MediaRef: ref}, ok
}

// RecentPictures finds the newest two pictures of the uncompacted history,
// before any window, oldest first.
func RecentPictures(rows []session.Message) []Picture {
	var found []Picture
	for i := len(rows) - 1; i >= 0 && len(found) < MaxPictures; i-- {
		if p, ok := pictureOf(rows[i]); ok {
			found = append([]Picture{p}, found...)
		}
	}
	return found
}

// pictureMessage is the message before the player's input that shows pictures,
// media references in the place of bytes (spec 01 §13.2).
func (b *build) pictureMessage() (model.Message, bool) {
	if !b.Runtime.Story || len(b.Pictures) == 0 {
		return model.Message{}, false
	}
	pictures := b.Pictures[max(0, len(b.Pictures)-MaxPictures):]
	parts := []model.Part{{Type: partText, Text: b.text("T30", nil)}}
	for i, p := range pictures {
		label := b.text("T31.plain", map[string]string{"n": strconv.Itoa(i + 1)})
		if !blank(p.Description) {
			label = b.text("T31.described", map[string]string{
				"n": strconv.Itoa(i + 1), "description": Cut(Fold(clean(p.Description)), pictureRunes, ""),
			})
		}
		parts = append(parts, model.Part{Type: partText, Text: label}, model.Part{Type: partImage, MediaRef: p.MediaRef})
	}
	return model.Message{Role: model.RoleUser, Parts: parts}, true
}

const (
	partText  = "text"
	partImage = "image"
)

// LoadedPicture is the outcome of reading one picture: Image and MediaType, or
// Reason why it is not sent.
type LoadedPicture struct {
	Image     string // base64
	MediaType string
	Reason    string
}

// ResolvePictures replaces media references by loaded images on a copy (spec 01
// §13.2, §13.3). An image that cannot be sent goes with the label before it; a
// message that keeps no image goes whole. A nil loaded map means that the model
// takes no images. Protected is the new currentTurnUserMessages.
func ResolvePictures(messages []model.Message, protected int, loaded map[string]LoadedPicture) (out []model.Message, count int, warnings []Warning) {
	out = make([]model.Message, 0, len(messages))
	for _, m := range messages {
		if !hasMediaRef(m) {
			out = append(out, m)
			continue
		}
		var parts []model.Part
		images := 0
		for _, p := range m.Parts {
			if p.MediaRef == "" {
				parts = append(parts, p)
				continue
			}
			got, ok := loaded[p.MediaRef]
			if !ok && loaded != nil {
				got.Reason = "not loaded"
			}
			if got.Image == "" {
				if loaded != nil {
					warnings = append(warnings, Warning{Code: WarnPictureSkipped, Reason: got.Reason})
				}
				if n := len(parts); n > 1 && parts[n-1].Type == partText {
					parts = parts[:n-1]
				}
				continue
			}
			images++
			parts = append(parts, model.Part{Type: partImage, Image: got.Image, MediaType: got.MediaType})
		}
		if images == 0 {
			protected--
			continue
		}
		m.Parts = parts
		out = append(out, m)
	}
	return out, protected, warnings
}

func hasMediaRef(m model.Message) bool {
	for _, p := range m.Parts {
		if p.MediaRef != "" {
			return true
		}
	}
	return false
}

// MaxPictureBytes bounds a picture that is sent: 5 MB as base64, the tightest
// limit of the providers.
const MaxPictureBytes = 3_750_000

// PictureAsset is what is known about a stored picture before it is sent.
type PictureAsset struct {
	// Found says that a media store is there and holds it; Referenced that this
	// session refers to it.
	Found      bool
	Referenced bool
	Mime       string
	// Declared and Actual are sizes in bytes.
	Declared int64
	Actual   int64
}

// CheckPicture gives the media type to send, or the reason why the picture is
// not sent (spec 01 §13.3).
func CheckPicture(a PictureAsset) (mediaType, reason string) {
	mime, _, _ := strings.Cut(a.Mime, ";")
	mime = strings.ToLower(strings.TrimSpace(mime))
	switch {
	case !a.Found:
		return "", "not in the media store"
	case !a.Referenced:
		return "", "not referenced by this session"
	case min(a.Declared, a.Actual) <= 0:
		return "", "empty"
	case max(a.Declared, a.Actual) > MaxPictureBytes:
		return "", "larger than " + strconv.Itoa(MaxPictureBytes) + " bytes"
	}
	switch mime {
	case "image/png", "image/jpeg", "image/webp", "image/gif":
		return mime, ""
	default:
		return "", "media type " + strconv.Quote(a.Mime) + " is not sent"
	}
}
