package model

// ProviderScripted plays scripts and the storyteller without a network.
const ProviderScripted = "scripted"

// builtin is a provider that needs no baseUrl in llm.toml (spec 04 §3.6).
type builtin struct {
	baseURL  string
	protocol string
	keyless  bool
}

var builtins = map[string]builtin{
	"openai":         {"https://api.openai.com/v1", ProtocolChat, false},
	"anthropic":      {"https://api.anthropic.com", ProtocolAnthropic, false},
	"google":         {"https://generativelanguage.googleapis.com/v1beta", ProtocolGemini, false},
	"deepseek":       {"https://api.deepseek.com", ProtocolChat, false},
	"dashscope":      {"https://dashscope.aliyuncs.com/compatible-mode/v1", ProtocolChat, false},
	"xai":            {"https://api.x.ai/v1", ProtocolChat, false},
	"mistral":        {"https://api.mistral.ai/v1", ProtocolChat, false},
	"groq":           {"https://api.groq.com/openai/v1", ProtocolChat, false},
	"together":       {"https://api.together.xyz/v1", ProtocolChat, false},
	"fireworks":      {"https://api.fireworks.ai/inference/v1", ProtocolChat, false},
	"moonshot":       {"https://api.moonshot.cn/v1", ProtocolChat, false},
	"zhipu":          {"https://open.bigmodel.cn/api/paas/v4", ProtocolChat, false},
	"siliconflow":    {"https://api.siliconflow.cn/v1", ProtocolChat, false},
	"volcengine":     {"https://ark.cn-beijing.volces.com/api/v3", ProtocolChat, false},
	"openrouter":     {"https://openrouter.ai/api/v1", ProtocolChat, false},
	"vercel":         {"https://ai-gateway.vercel.sh/v1", ProtocolChat, false},
	"ollama":         {"http://localhost:11434/v1", ProtocolChat, true},
	"lmstudio":       {"http://localhost:1234/v1", ProtocolChat, true},
	"llamacpp":       {"http://localhost:8080/v1", ProtocolChat, true},
	"vllm":           {"http://localhost:8000/v1", ProtocolChat, true},
	"litellm":        {"http://localhost:4000/v1", ProtocolChat, true},
	ProviderScripted: {"", ProtocolScripted, true},
}
