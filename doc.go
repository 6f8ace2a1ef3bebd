// Package hotcount is a placeholder until the engine lands.
package hotcount
