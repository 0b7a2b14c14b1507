// nri-demo is a plugin on the real Go stub that injects the CDI devices of the pod annotation
// cdi-devices.noderesource.dev/container.NAME (comma-separated).
// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// It shows that nri-judge works, and is what a plugin under test is compared with.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
)

type plugin struct{}

func (plugin) CreateContainer(_ context.Context, pod *api.PodSandbox, container *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	value := pod.GetAnnotations()["cdi-devices.noderesource.dev/container."+container.GetName()]
	adjust := &api.ContainerAdjustment{}
	for _, name := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' }) {
		if !strings.Contains(name, "=") {
			return nil, nil, fmt.Errorf("container %s: %q is not a CDI device", container.GetName(), name)
		}
		adjust.AddCDIDevice(&api.CDIDevice{Name: name})
	}
	return adjust, nil, nil
}

func main() {
	socket := flag.String("socket", "/var/run/nri/nri.sock", "the runtime's NRI socket")
	name := flag.String("name", "demo", "name of the plugin")
	index := flag.String("index", "10", "its index: plugins are called in ascending order")
	flag.Parse()
	s, err := stub.New(plugin{}, stub.WithSocketPath(*socket), stub.WithPluginName(*name), stub.WithPluginIdx(*index))
	if err == nil {
		err = s.Run(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "nri-demo:", err)
		os.Exit(1)
	}
}
