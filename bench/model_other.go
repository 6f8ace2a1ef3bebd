//go:build !darwin

package bench

// systemCPU returns the name of the processor if there is a call for it.
func systemCPU() string { return "" }
