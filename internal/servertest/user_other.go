//go:build !unix

package servertest

import "syscall"

// unprivileged returns nil: nobody is root here.
func unprivileged() (*syscall.SysProcAttr, error) { return nil, nil }

func (s *Server) own(string) {}
