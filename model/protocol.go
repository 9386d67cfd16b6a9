package model

// Protocol ids (spec 04 §1.2, §17).
const (
	ProtocolChat      = "openai-chat-v1"
	ProtocolResponses = "openai-responses-v1"
	ProtocolAnthropic = "anthropic-messages-v1"
	ProtocolGemini    = "google-generative-ai-v1"
	ProtocolScripted  = "scripted-v1"
)

// Late-system modes (spec 04 §9.2).
const (
	LateSystem   = "system"
	LateEnvelope = "envelope"
	LateNative   = "native"
)

// Cache strategies (spec 04 §13.1).
const (
	CacheAnthropicExplicit = "anthropic-explicit"
	CacheOpenAIBreakpoints = "openai-breakpoints"
	CacheAutoPrefix        = "auto-prefix"
	CacheNone              = "none"
)

// protocol holds all that depends on a wire protocol outside its adapter;
// nothing else compares protocol ids.
type protocol struct {
	// alwaysBudgeted is a protocol whose requests always carry an output limit.
	alwaysBudgeted bool
	// breakpoints: models with trait cache-breakpoints default to CacheOpenAIBreakpoints.
	breakpoints bool
	// cacheKey: the protocol has a prompt_cache_key field.
	cacheKey    bool
	dialect     dialect
	features    []string
	input       []string
	keyless     bool
	lateDefault string
	lateModes   []string
	options     []string          // provider options besides reasoningEffort and extraBody
	overrides   map[string]string // parameter override → wire name
	// choiceField is the metadata key that holds a player's own tool choice.
	choiceField   string
	stableCache   string // default cache strategy
	strategies    []string
	objectSchema  bool // the schema goes out in a field; no instruction is needed
	textSystem    bool // leading system text may not hold images
	textLate      bool // late system text may not hold images either
	versionedBase bool // the base URL gets /v1 when it names no version
}

var textOnly = []string{"text"}

// protocols is the one table of wire protocols.
var protocols = map[string]*protocol{
	ProtocolChat: {
		cacheKey: true, choiceField: "tool_choice", dialect: chatDialect,
		features: []string{"function_calling", "streaming"}, input: textOnly,
		lateDefault: LateSystem, lateModes: []string{LateSystem, LateEnvelope},
		options: []string{"lateSystemAsUser", "parallelToolCalls", "promptCacheKey", "seed", "store", "user"},
		overrides: map[string]string{
			"temperature": "temperature", "topP": "top_p", "frequencyPenalty": "frequency_penalty",
			"presencePenalty": "presence_penalty",
		},
		stableCache: CacheAutoPrefix, strategies: []string{CacheAutoPrefix, CacheNone}, versionedBase: true,
	},
	ProtocolResponses: {
		breakpoints: true, cacheKey: true, choiceField: "tool_choice", dialect: responsesDialect,
		features: []string{"function_calling", "streaming", "structured_output"}, input: textOnly,
		lateDefault: LateSystem, lateModes: []string{LateSystem, LateEnvelope}, objectSchema: true,
		options:     []string{"lateSystemAsUser", "parallelToolCalls", "promptCacheKey", "reasoningSummary", "store", "user"},
		overrides:   map[string]string{"temperature": "temperature", "topP": "top_p"},
		stableCache: CacheAutoPrefix, strategies: []string{CacheOpenAIBreakpoints, CacheAutoPrefix, CacheNone},
		versionedBase: true,
	},
	ProtocolAnthropic: {
		alwaysBudgeted: true, choiceField: "tool_choice", dialect: anthropicDialect,
		features: []string{"function_calling", "streaming", "prompt_caching"}, input: textOnly,
		lateDefault: LateEnvelope, lateModes: []string{LateEnvelope, LateNative},
		options:     []string{"lateSystemAsUser", "thinking"},
		overrides:   map[string]string{"temperature": "temperature", "topP": "top_p", "topK": "top_k"},
		stableCache: CacheAnthropicExplicit, strategies: []string{CacheAnthropicExplicit, CacheAutoPrefix, CacheNone},
		textSystem: true, versionedBase: true,
	},
	ProtocolGemini: {
		choiceField: "toolConfig", dialect: geminiDialect,
		features: []string{"function_calling", "streaming", "structured_output"}, input: textOnly,
		lateDefault: LateEnvelope, lateModes: []string{LateSystem, LateEnvelope}, objectSchema: true,
		options: []string{"cachedContent", "lateSystemAsUser", "seed", "thinkingConfig"},
		overrides: map[string]string{
			"temperature": "temperature", "topP": "topP", "topK": "topK",
			"frequencyPenalty": "frequencyPenalty", "presencePenalty": "presencePenalty",
		},
		stableCache: CacheAutoPrefix, strategies: []string{CacheAutoPrefix, CacheNone}, textSystem: true, textLate: true,
	},
	ProtocolScripted: {
		choiceField: "tool_choice", dialect: scriptedDialect,
		features: []string{"function_calling", "streaming", "structured_output"}, input: textOnly, keyless: true,
		lateDefault: LateSystem, lateModes: []string{LateSystem, LateEnvelope},
		overrides: map[string]string{
			"temperature": "temperature", "topP": "top_p", "frequencyPenalty": "frequency_penalty",
			"presencePenalty": "presence_penalty",
		},
		stableCache: CacheAutoPrefix, strategies: []string{CacheAutoPrefix, CacheNone},
	},
}

// ProtocolIDs lists the wire protocols in alphabetical order.
func ProtocolIDs() []string { return sortedKeys(protocols) }
