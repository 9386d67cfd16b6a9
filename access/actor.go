package access

import "context"

// ActorLocal is the actor of operations that came through no door with tokens.
const ActorLocal = "local"

type actorKey struct{}

// WithActor names who acts, for the audit.
func WithActor(ctx context.Context, actor string) context.Context {
	return context.WithValue(ctx, actorKey{}, actor)
}

// ActorOf gives who acts, ActorLocal by default.
func ActorOf(ctx context.Context) string {
	if actor, ok := ctx.Value(actorKey{}).(string); ok {
		return actor
	}
	return ActorLocal
}
