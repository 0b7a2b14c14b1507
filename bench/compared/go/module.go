// SPDX-License-Identifier: Apache-2.0 OR MIT
package main

import (
	"tags.cncf.io/container-device-interface/pkg/cdi"
	"tags.cncf.io/container-device-interface/pkg/parser"
)

// The newest release of the Go reference, from its module.

type Cache = cdi.Cache

// newCache has the default, an inotify thread, if inotify is true. Otherwise, it reads again only
// when asked to.
func newCache(dir string, inotify bool) (*Cache, error) {
	return cdi.NewCache(cdi.WithSpecDirs(dir), cdi.WithAutoRefresh(inotify))
}

func readSpec(path string) error {
	_, err := cdi.ReadSpec(path, 0)
	return err
}

func isName(text string) bool {
	_, _, _, err := parser.ParseQualifiedName(text)
	return err == nil
}
