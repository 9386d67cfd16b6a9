// Package historysize measures what a Temporal history carries. Payload bytes
// are data and metadata of all payloads: arguments, results, headers, memo,
// search attributes, user metadata and failures.
package historysize

import (
	"context"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Events reads a run's history. An empty run id is the latest run.
func Events(ctx context.Context, c client.Client, workflowID, runID string) ([]*historypb.HistoryEvent, error) {
	var events []*historypb.HistoryEvent
	it := c.GetWorkflowHistory(ctx, workflowID, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for it.HasNext() {
		event, err := it.Next()
		if err != nil {
			return nil, err
		}
		events = append(events, event)
	}
	return events, nil
}

// Payloads sums the payload bytes of one event.
func Payloads(event *historypb.HistoryEvent) int64 { return payloads(event.ProtoReflect()) }

// payloads sums data and metadata of all payloads in a message.
func payloads(m protoreflect.Message) int64 {
	if p, ok := m.Interface().(*commonpb.Payload); ok {
		total := int64(len(p.GetData()))
		for key, value := range p.GetMetadata() {
			total += int64(len(key) + len(value))
		}
		return total
	}
	var total int64
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case fd.IsMap() && fd.MapValue().Message() != nil:
			v.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool {
				total += payloads(v.Message())
				return true
			})
		case fd.IsList() && fd.Message() != nil:
			for i := range v.List().Len() {
				total += payloads(v.List().Get(i).Message())
			}
		case !fd.IsMap() && !fd.IsList() && fd.Message() != nil:
			total += payloads(v.Message())
		}
		return true
	})
	return total
}
