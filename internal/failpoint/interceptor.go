package failpoint

import (
	"context"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
)

// Interceptor gives the worker interceptor that watches for a point.
func (p *Point) Interceptor() interceptor.WorkerInterceptor {
	return &workerInterceptor{point: p}
}

type workerInterceptor struct {
	interceptor.WorkerInterceptorBase
	point *Point
}

func (w *workerInterceptor) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	i := &activityInterceptor{point: w.point}
	i.Next = next
	return i
}

type activityInterceptor struct {
	interceptor.ActivityInboundInterceptorBase
	point *Point
}

type activityKey struct{}

// ExecuteActivity stands around every activity, remote and local.
func (i *activityInterceptor) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	name := activity.GetInfo(ctx).ActivityType.Name
	i.point.hit(name, Before)
	result, err := i.Next.ExecuteActivity(context.WithValue(ctx, activityKey{}, name), in)
	if err == nil {
		i.point.hit(name, After)
	}
	return result, err
}
