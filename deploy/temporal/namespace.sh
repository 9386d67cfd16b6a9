#!/bin/sh
# Makes the namespace when it is missing; safe to repeat. TEMPORAL_ADDRESS and
# TEMPORAL_NAMESPACE are set in the compose file.
set -eu

if temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1; then
	exit 0
fi
temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention 30d
