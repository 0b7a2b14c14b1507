//go:build ignore
// SPDX-License-Identifier: Apache-2.0 OR MIT

package main

import "github.com/container-orchestrated-devices/container-device-interface/pkg/cdi"

// The release that Debian 12 packages. run.sh builds it with this file in place of module.go.

type Cache = cdi.Cache

func newCache(dir string, inotify bool) (*Cache, error) {
	return cdi.NewCache(cdi.WithSpecDirs(dir), cdi.WithAutoRefresh(inotify))
}

func readSpec(path string) error {
	_, err := cdi.ReadSpec(path, 0)
	return err
}

func isName(text string) bool {
	_, _, _, err := cdi.ParseQualifiedName(text)
	return err == nil
}
