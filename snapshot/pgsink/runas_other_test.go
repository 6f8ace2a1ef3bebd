//go:build !unix

package pgsink

import "os/exec"

// runAs does nothing: nobody is root here.
func runAs(*exec.Cmd, int, int) {}
