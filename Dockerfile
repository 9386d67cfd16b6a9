# The one binary, static, for `covel worker`, `covel serve` and everything else.
FROM golang:1.26.8-alpine AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 go build -buildvcs=false -trimpath -ldflags="-s -w" -o /out/covel ./cmd/covel

FROM alpine:3.22.1
RUN apk add --no-cache ca-certificates tzdata \
    && adduser -D -u 10001 covel \
    && install -d -o covel -g covel /var/lib/covel
COPY --from=build /out/covel /usr/local/bin/covel
USER covel
WORKDIR /var/lib/covel
ENV COVEL_DATA_DIR=/var/lib/covel
VOLUME /var/lib/covel
ENTRYPOINT ["covel"]
CMD ["--help"]
