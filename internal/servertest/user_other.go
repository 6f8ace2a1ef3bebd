//go:build !unix

package servertest

import (
	"syscall"
	"testing"
)

// unprivileged returns nil: nobody is root here.
func unprivileged(testing.TB) *syscall.SysProcAttr { return nil }

func (s *Server) own(string) {}
