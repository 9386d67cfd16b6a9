package model

import (
	"bytes"
	"context"
	"encoding/base64"
	"strings"
)

// ImagePlaceholder stands where an image was left out.
const ImagePlaceholder = "[image]"

// Image is an image part, taken apart: a URL, or bytes in base64.
type Image struct {
	Base64    string
	MediaType string
	URL       string
}

// DataURL is the image as one URL.
func (i Image) DataURL() string {
	if i.URL != "" {
		return i.URL
	}
	return "data:" + i.MediaType + ";base64," + i.Base64
}

// ParseImage reads an image part: a data URL, an http(s) URL or bare base64,
// whose type is judged by its first bytes when none is given (spec 04 §2.1).
func ParseImage(p Part) (Image, *Error) {
	switch {
	case strings.HasPrefix(p.Image, "https://"), strings.HasPrefix(p.Image, "http://"):
		return Image{URL: p.Image, MediaType: p.MediaType}, nil
	case strings.HasPrefix(p.Image, "data:"):
		head, data, ok := strings.Cut(strings.TrimPrefix(p.Image, "data:"), ",")
		mediaType, encoded := strings.CutSuffix(head, ";base64")
		if !ok || !encoded || mediaType == "" || data == "" {
			return Image{}, Configf("image: the data URL %q is not data:<type>;base64,<data>", cut(p.Image, 40))
		}
		return Image{Base64: data, MediaType: mediaType}, nil
	case p.Image == "":
		return Image{}, Configf("image: empty; give a data URL, an https URL or base64")
	case p.MediaType != "":
		return Image{Base64: p.Image, MediaType: p.MediaType}, nil
	}
	if mediaType := sniffImage(p.Image); mediaType != "" {
		return Image{Base64: p.Image, MediaType: mediaType}, nil
	}
	return Image{}, Configf("image: %q is neither a URL nor base64 of a PNG, JPEG, WebP or GIF; give mediaType", cut(p.Image, 40))
}

func sniffImage(encoded string) string {
	head := make([]byte, 12)
	n, _ := base64.StdEncoding.Decode(head, []byte(encoded[:min(16, len(encoded)/4*4)]))
	head = head[:n]
	switch {
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case bytes.HasPrefix(head, []byte("GIF87a")), bytes.HasPrefix(head, []byte("GIF89a")):
		return "image/gif"
	case len(head) == 12 && string(head[:4]) == "RIFF" && string(head[8:]) == "WEBP":
		return "image/webp"
	}
	return ""
}

// resolveMedia gives copies of the messages in which media references carry
// their bytes; messages without one are shared.
func (g *Gateway) resolveMedia(ctx context.Context, messages []Message) ([]Message, error) {
	var out []Message
	for i := range messages {
		for j, p := range messages[i].Parts {
			if p.Type != "image" || p.MediaRef == "" || p.Image != "" {
				continue
			}
			if g.config.Media == nil {
				return nil, Configf("messages[%d].content[%d].mediaRef: %q cannot be read; model.Config.Media is not set", i, j, p.MediaRef)
			}
			data, mediaType, err := g.config.Media(ctx, p.MediaRef)
			if err != nil {
				return nil, &Error{Code: CodeConfig, Message: "media " + p.MediaRef + ": " + err.Error(), Err: err}
			}
			if out == nil {
				out = append([]Message(nil), messages...)
			}
			if &out[i].Parts[0] == &messages[i].Parts[0] {
				out[i].Parts = append([]Part(nil), messages[i].Parts...)
			}
			out[i].Parts[j].Image, out[i].Parts[j].MediaType = base64.StdEncoding.EncodeToString(data), mediaType
		}
	}
	if out == nil {
		return messages, nil
	}
	return out, nil
}

// withoutImages gives copies without image parts; a content that held nothing
// else reads [image] (spec 04 §6.4).
func withoutImages(messages []Message) ([]Message, bool) {
	out := messages
	removed := false
	for i := range messages {
		if messages[i].HasOnlyText() {
			continue
		}
		if !removed {
			out, removed = append([]Message(nil), messages...), true
		}
		var parts []Part
		for _, p := range messages[i].Parts {
			if p.Type == "text" && p.Text != "" {
				parts = append(parts, p)
			}
		}
		out[i].Parts = parts
		if len(parts) == 0 {
			out[i].Parts, out[i].Content = nil, ImagePlaceholder
		}
	}
	return out, removed
}
