package plugins

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"

	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/turn"
)

// registerIllustrator adds the illustrator package's code (spec 05 §15.11).
func registerIllustrator(h *plugin.Handlers) {
	h.Entries["illustrator"] = plugin.Registration{}
	h.Functions["illustrator/draw"] = draw
}

func draw(_ context.Context, c plugin.FunctionCall) (plugin.FunctionResult, error) {
	order := struct {
		Prompt   *string `json:"prompt"`
		Caption  *string `json:"caption"`
		Format   string  `json:"format"`
		PadBytes int     `json:"padBytes"`
		Modality string  `json:"modality"`
	}{Format: "png", Modality: "image"}
	if len(c.Payload) > 0 {
		if err := json.Unmarshal(c.Payload, &order); err != nil {
			return plugin.FunctionResult{}, fmt.Errorf("payload: %w", err)
		}
	}
	pixel, err := onePixel(order.Format)
	if err != nil {
		return plugin.FunctionResult{}, err
	}
	meta := map[string]string{}
	if order.Prompt != nil {
		meta["prompt"] = *order.Prompt
	}
	if order.Caption != nil {
		meta["caption"] = *order.Caption
	}
	write, err := propose(turn.ProposalAssetGenerate, struct {
		Modality string            `json:"modality"`
		Mime     string            `json:"mime"`
		Data     []byte            `json:"data"`
		Meta     map[string]string `json:"meta"`
	}{order.Modality, "image/" + order.Format, append(pixel, make([]byte, order.PadBytes)...), meta})
	if err != nil {
		return plugin.FunctionResult{}, err
	}
	return plugin.FunctionResult{Value: json.RawMessage(`{"drawn":1}`), Proposals: []plugin.ProposedWrite{write}}, nil
}

// webpPixel is a lossless picture of one pixel; the standard library writes no WebP.
const webpPixel = "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA=="

// onePixel gives a picture of one pixel. Every format's readers ignore bytes
// after its end, so the picture can be padded.
func onePixel(format string) ([]byte, error) {
	img := image.NewPaletted(image.Rect(0, 0, 1, 1), color.Palette{color.RGBA{R: 255, G: 214, B: 120, A: 255}})
	var b bytes.Buffer
	var err error
	switch format {
	case "png":
		err = png.Encode(&b, img)
	case "jpeg":
		err = jpeg.Encode(&b, img, nil)
	case "gif":
		err = gif.Encode(&b, img, nil)
	case "webp":
		return base64.StdEncoding.DecodeString(webpPixel)
	case "bmp":
		return []byte{
			'B', 'M', 58, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, // file header: 58 bytes, pixels at 54
			40, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 24, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
			120, 214, 255, 0, // one pixel, blue first, padded to four bytes
		}, nil
	default:
		return nil, fmt.Errorf("payload.format %q is not one of png, jpeg, webp, gif, bmp", format)
	}
	return b.Bytes(), err
}
