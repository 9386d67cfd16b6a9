package commit

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/turn"
)

// modalityImage is the modality whose assets leave a description row.
const modalityImage = "image"

// pictureRunes bounds a picture's description (spec 01 §13.1).
const pictureRunes = 600

// picture is one shown image.
type picture struct {
	description string
	ui          PictureUI
}

// applyAsset stores the bytes and notes a picture for the journal.
func (a *application) applyAsset(ctx context.Context, p turn.Proposal, done *applied) error {
	asset, err := read[AssetGenerate](p)
	if err != nil {
		return err
	}
	if err := required("modality", asset.Modality); err != nil {
		return err
	}
	if len(asset.Meta) > 0 && string(asset.Meta) != "null" && !isObject(asset.Meta) {
		return rejectf("meta must be an object")
	}
	if len(asset.Data) == 0 {
		if asset.SHA256 == "" {
			return rejectf("data must be a non-empty base64 text, or sha256 must name stored media")
		}
		stored, _, err := a.tx.Media(ctx, a.plan.SessionID, asset.SHA256)
		if err != nil {
			return err
		}
		asset.Mime = stored.Mime
	} else {
		if err := required("mime", asset.Mime); err != nil {
			return err
		}
		ref := store.MediaRef{SessionID: a.plan.SessionID, PluginID: p.Source.PluginID, Meta: asset.Meta, CreatedAt: a.plan.Now}
		stored, err := a.tx.PutMedia(ctx, ref, asset.Mime, asset.Data)
		if err != nil {
			return err
		}
		asset.SHA256 = stored.SHA256
	}
	if asset.Modality == modalityImage {
		done.pictures = append(done.pictures, picture{describe(asset.Meta), PictureUI{asset.SHA256, asset.Mime}})
	}
	asset.Data = nil
	return done.event(p, EventRecordUpdated, struct {
		Record string `json:"record"`
		AssetGenerate
	}{"asset", asset})
}

// describe says what a picture shows when that is known: the caption, else the
// prompt, its white space folded, its first 600 runes.
func describe(meta json.RawMessage) string {
	var m struct {
		Caption string `json:"caption"`
		Prompt  string `json:"prompt"`
	}
	_ = json.Unmarshal(meta, &m) // members of another type describe nothing
	text := strings.Join(strings.Fields(m.Caption), " ")
	if text == "" {
		text = strings.Join(strings.Fields(m.Prompt), " ")
	}
	if runes := []rune(text); len(runes) > pictureRunes {
		return string(runes[:pictureRunes])
	}
	return text
}
