package store

import "strings"

// Namespaces of the framework (spec 02 §19).
const (
	NamespaceJobs = "_jobs"
	// NamespaceLogs keeps the newest 200 rows of a plugin.
	NamespaceLogs = "_logs"
	// NamespaceHidden begins the namespaces that only their owner's code reads.
	NamespaceHidden = "_hidden."
)

// CheckPluginNamespace answers RESERVED_NAMESPACE for a namespace that a plugin
// may not write. Writers of plugin proposals and tools call it; the stores
// themselves take every namespace, since the framework writes its own. Owner
// says that the write comes from the owner's function or guard code, which may
// write _hidden.* (spec 05 §6).
func CheckPluginNamespace(namespace string, owner bool) error {
	if !strings.HasPrefix(namespace, "_") || owner && strings.HasPrefix(namespace, NamespaceHidden) {
		return nil
	}
	return &Error{Code: CodeReservedNamespace, Op: "write plugin data", Table: "plugin_data", Value: namespace}
}
