// Package peer calls a server that other people wrote: the npm package
// @copilotkit/aimock, which speaks the wire protocols of spec 04 by its own
// reading of them. What our scripted server and our adapters could misread
// alike, this one would not.
//
// fixtures.json says what it answers. .ci/setup installs it from
// package-lock.json. It holds tests only.
package peer
