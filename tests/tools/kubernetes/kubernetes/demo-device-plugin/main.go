// demo-device-plugin is a device plugin on the test stub of kubelet. It shows that device-judge works.
// SPDX-License-Identifier: Apache-2.0 OR MIT
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"k8s.io/klog/v2"
	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
	plugin "k8s.io/kubernetes/pkg/kubelet/cm/devicemanager/plugin/v1beta1"
)

func main() {
	klog.InitFlags(nil)
	root := flag.String("root", "/var/lib/kubelet", "the kubelet's directory")
	resource := flag.String("resource", "example.com/gpu", "resource name")
	devices := flag.String("devices", "gpu-0,gpu-1", "device ids, comma-separated")
	flag.Parse()
	if err := run(*root, *resource, *devices); err != nil {
		fmt.Fprintln(os.Stderr, "demo-device-plugin:", err)
		os.Exit(1)
	}
}

func run(root, resource, names string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var devices []*api.Device
	for _, name := range strings.Split(names, ",") {
		devices = append(devices, &api.Device{ID: name, Health: api.Healthy})
	}
	dir := filepath.Join(root, "device-plugins")
	stub := plugin.NewDevicePluginStub(klog.Background(), devices, filepath.Join(dir, "demo.sock"), resource, false, false)
	stub.SetAllocFunc(func(request *api.AllocateRequest, _ map[string]*api.Device) (*api.AllocateResponse, error) {
		response := &api.AllocateResponse{}
		for _, container := range request.ContainerRequests {
			answer := &api.ContainerAllocateResponse{}
			for _, id := range container.DevicesIds {
				answer.CdiDevices = append(answer.CdiDevices, &api.CDIDevice{Name: resource + "=" + id})
			}
			response.ContainerResponses = append(response.ContainerResponses, answer)
		}
		return response, nil
	})
	if err := stub.Start(ctx); err != nil {
		return err
	}
	defer stub.Stop(klog.Background())
	if err := stub.Register(ctx, filepath.Join(dir, "kubelet.sock"), resource, dir); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}
