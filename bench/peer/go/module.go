package main

import (
	"tags.cncf.io/container-device-interface/pkg/cdi"
	"tags.cncf.io/container-device-interface/pkg/parser"
)

// The newest release of the Go reference, from its module.

type Cache = cdi.Cache

func newCache(dir string) (*Cache, error) {
	return cdi.NewCache(cdi.WithSpecDirs(dir), cdi.WithAutoRefresh(false))
}

func readSpec(path string) error {
	_, err := cdi.ReadSpec(path, 0)
	return err
}

func isName(text string) bool {
	_, _, _, err := parser.ParseQualifiedName(text)
	return err == nil
}
