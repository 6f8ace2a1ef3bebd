package bench

import "golang.org/x/sys/unix"

// systemCPU returns the name of the processor if there is a call for it.
func systemCPU() string {
	model, err := unix.Sysctl("machdep.cpu.brand_string")
	if err != nil {
		return ""
	}
	return model
}
