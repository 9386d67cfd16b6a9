package commit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/turn"
	"github.com/covel-engine/covel/world"
)

// codeDimensionConflict is the code of an update of an old version (spec 03 §10.5).
const codeDimensionConflict = "dimension-version-conflict"

// keptSettlements is how many finished receipts stay (spec 05 §12.7).
const keptSettlements = 20

// settlementPending is a receipt that blocks the next narrative.
const settlementPending = "pending-settlement"

// ownsDimensions refuses every plugin but the provider of world.dimensions@1.
func (a *application) ownsDimensions(p turn.Proposal) error {
	if a.plan.DimensionsOwner != "" && p.Source.PluginID != a.plan.DimensionsOwner {
		return rejectf("plugin %q may not propose %s; only %q, which provides world.dimensions@1, may",
			p.Source.PluginID, p.Type, a.plan.DimensionsOwner)
	}
	return nil
}

func (a *application) initializeDimensions(ctx context.Context, p turn.Proposal, done *applied) error {
	if err := a.ownsDimensions(p); err != nil {
		return err
	}
	payload, err := read[DimensionInitialize](p)
	if err != nil {
		return err
	}
	for i, d := range payload.Dimensions {
		field := fmt.Sprintf("dimensions[%d]", i)
		if err := required(field+".id", d.ID); err != nil {
			return err
		}
		if len(d.Value) == 0 {
			d.Value = d.InitialValue
		}
		if err := requiredValue(field+".initialValue", d.Value); err != nil {
			return err
		}
		old, stands, err := a.dimension(ctx, p.Source.PluginID, d.ID)
		if err != nil {
			return err
		}
		d.Version = 1
		if stands {
			d.Value, d.Version = old.Value, old.Version
		} else if err := a.checkDimension(field, d, d.Value); err != nil {
			return err
		}
		if err := a.putDimension(ctx, p.Source.PluginID, d); err != nil {
			return err
		}
	}
	return done.event(p, EventRecordUpdated, map[string]string{"record": "dimensions"})
}

// updateDimensions applies all changes or none.
func (a *application) updateDimensions(ctx context.Context, p turn.Proposal, done *applied) error {
	if err := a.ownsDimensions(p); err != nil {
		return err
	}
	payload, err := read[DimensionUpdate](p)
	if err != nil {
		return err
	}
	receipt := Settlement{TurnID: a.plan.TurnID, Status: payload.Receipt}
	switch receipt.Status {
	case "settled", "no-change", "manual", "skipped":
	case "":
		receipt.Status = "settled"
		if len(payload.Updates) == 0 {
			receipt.Status = "no-change"
		}
	default:
		return rejectf("receipt %q is not one of settled, no-change, manual, skipped", payload.Receipt)
	}
	for i, change := range payload.Updates {
		field := fmt.Sprintf("updates[%d]", i)
		if err := required(field+".id", change.ID); err != nil {
			return err
		}
		if err := requiredValue(field+".value", change.Value); err != nil {
			return err
		}
		d, stands, err := a.dimension(ctx, p.Source.PluginID, change.ID)
		switch {
		case err != nil:
			return err
		case !stands:
			return rejectf("%s.id %q is no dimension of this session", field, change.ID)
		case d.Version != change.Version:
			return &RejectedError{
				Code:    codeDimensionConflict,
				Message: fmt.Sprintf("dimension %q has version %d, the update is for version %d", change.ID, d.Version, change.Version),
			}
		}
		if err := a.checkDimension(field, d, change.Value); err != nil {
			return err
		}
		d.Value = change.Value
		d.Version++
		if err := a.putDimension(ctx, p.Source.PluginID, d); err != nil {
			return err
		}
		receipt.Updated = append(receipt.Updated, change.ID)
	}
	if err := a.putSettlement(ctx, p.Source.PluginID, receipt); err != nil {
		return err
	}
	return done.event(p, EventRecordUpdated, map[string]any{"record": "dimensions", "ids": receipt.Updated})
}

func (a *application) checkDimension(field string, d Dimension, value json.RawMessage) error {
	check := a.plan.Checks.Dimension
	if check == nil {
		check = world.CheckDimensionValue
	}
	if len(d.Schema) == 0 {
		return nil
	}
	if err := check(d.Schema, value); err != nil {
		return rejectf("%s: value of dimension %q: %v", field, d.ID, err)
	}
	return nil
}

func (a *application) dimension(ctx context.Context, pluginID, id string) (Dimension, bool, error) {
	row, err := a.tx.PluginDatum(ctx, a.plan.SessionID, pluginID, NamespaceDimensions, id)
	if errors.Is(err, store.ErrNotFound) {
		return Dimension{}, false, nil
	}
	if err != nil {
		return Dimension{}, false, err
	}
	var d Dimension
	if err := json.Unmarshal(row.Value, &d); err != nil {
		return Dimension{}, false, fmt.Errorf("stored dimension %q: %w", id, err)
	}
	return d, true, nil
}

func (a *application) putDimension(ctx context.Context, pluginID string, d Dimension) error {
	value, err := json.Marshal(d)
	if err != nil {
		return rejectf("dimension %q: %v", d.ID, err)
	}
	return a.put(ctx, pluginID, NamespaceDimensions, d.ID, value, 0)
}

// putSettlement stores a receipt and lets the oldest finished ones go.
func (a *application) putSettlement(ctx context.Context, pluginID string, s Settlement) error {
	value, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := a.put(ctx, pluginID, NamespaceSettlements, s.TurnID, value, 0); err != nil {
		return err
	}
	all, err := a.tx.ProjectPluginData(ctx, a.plan.SessionID, pluginID, NamespaceSettlements, 4*keptSettlements)
	if err != nil {
		return err
	}
	var finished []session.PluginDatum
	for _, row := range all.Anchors { // creation order: all rows while they fit the limit
		var old Settlement
		if json.Unmarshal(row.Value, &old) == nil && old.Status != settlementPending {
			finished = append(finished, row)
		}
	}
	for i := range len(finished) - keptSettlements {
		if err := a.tx.DeletePluginData(ctx, a.plan.SessionID, pluginID, NamespaceSettlements, finished[i].Key); err != nil {
			return err
		}
	}
	return nil
}
