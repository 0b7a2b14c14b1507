// demo-driver is a small DRA driver on the helper library of Kubernetes: each claim gets a CDI spec
// file with one device for each of its results.
// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// It shows that dra-judge works, and is what a driver under test is compared with.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/dynamic-resource-allocation/kubeletplugin"
	"k8s.io/dynamic-resource-allocation/resourceslice"
	"k8s.io/klog/v2"

	"k8s-judges/kubernetes/internal/cluster"
)

type driver struct {
	name, cdiDir string
}

func main() {
	klog.InitFlags(nil)
	name := flag.String("driver", "gpu.example.com", "driver name")
	root := flag.String("root", "/var/lib/kubelet", "the kubelet's directory")
	cdiDir := flag.String("cdi-dir", "/var/run/cdi", "where the CDI specs go")
	kubeconfig := flag.String("kubeconfig", "", "a real API server (default: a fake one)")
	objects := flag.String("objects", "", "YAML files with the fake API server's objects, comma-separated")
	node := flag.String("node", "node1", "name of this node")
	devices := flag.String("devices", "gpu-0,gpu-1", "devices to publish, comma-separated")
	flag.Parse()
	if err := run(&driver{*name, *cdiDir}, *root, *kubeconfig, *objects, *node, *devices); err != nil {
		fmt.Fprintln(os.Stderr, "demo-driver:", err)
		os.Exit(1)
	}
}

func run(d *driver, root, kubeconfig, objects, node, devices string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	client, err := cluster.Client(kubeconfig, objects)
	if err != nil {
		return err
	}
	data, registry := filepath.Join(root, "plugins", d.name), filepath.Join(root, "plugins_registry")
	if err := errors.Join(os.MkdirAll(data, 0o750), os.MkdirAll(registry, 0o750), os.MkdirAll(d.cdiDir, 0o755)); err != nil {
		return err
	}
	helper, err := kubeletplugin.Start(ctx, d,
		kubeletplugin.DriverName(d.name),
		kubeletplugin.NodeName(node),
		kubeletplugin.KubeClient(client),
		kubeletplugin.RegistrarDirectoryPath(registry),
		kubeletplugin.PluginDataDirectoryPath(data))
	if err != nil {
		return err
	}
	defer helper.Stop()
	var slice resourceslice.Slice
	for _, name := range strings.Split(devices, ",") {
		slice.Devices = append(slice.Devices, resourceapi.Device{Name: name})
	}
	err = helper.PublishResources(ctx, resourceslice.DriverResources{
		Pools: map[string]resourceslice.Pool{node: {Slices: []resourceslice.Slice{slice}}}})
	if err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

func (d *driver) specFile(uid types.UID) string {
	return filepath.Join(d.cdiDir, d.name+"-claim_"+string(uid)+".json")
}

func (d *driver) PrepareResourceClaims(_ context.Context, claims []*resourceapi.ResourceClaim) (map[types.UID]kubeletplugin.PrepareResult, error) {
	results := map[types.UID]kubeletplugin.PrepareResult{}
	for _, claim := range claims {
		results[claim.UID] = d.prepare(claim)
	}
	return results, nil
}

func (d *driver) prepare(claim *resourceapi.ResourceClaim) kubeletplugin.PrepareResult {
	var prepared kubeletplugin.PrepareResult
	var devices []any
	for _, result := range claim.Status.Allocation.Devices.Results {
		if result.Driver != d.name {
			continue
		}
		id := string(claim.UID) + "-" + result.Device
		devices = append(devices, map[string]any{"name": id, "containerEdits": map[string]any{
			"env": []string{"DEMO_DEVICE=" + result.Device}}})
		prepared.Devices = append(prepared.Devices, kubeletplugin.Device{
			Requests: []string{result.Request}, PoolName: result.Pool, DeviceName: result.Device,
			CDIDeviceIDs: []string{d.name + "/claim=" + id}})
	}
	spec, err := json.Marshal(map[string]any{"cdiVersion": "0.5.0", "kind": d.name + "/claim", "devices": devices})
	if err == nil {
		temporary := d.specFile(claim.UID) + ".tmp"
		err = errors.Join(os.WriteFile(temporary, spec, 0o644), os.Rename(temporary, d.specFile(claim.UID)))
	}
	if err != nil {
		return kubeletplugin.PrepareResult{Err: err}
	}
	return prepared
}

func (d *driver) UnprepareResourceClaims(_ context.Context, claims []kubeletplugin.NamespacedObject) (map[types.UID]error, error) {
	results := map[types.UID]error{}
	for _, claim := range claims {
		err := os.Remove(d.specFile(claim.UID))
		if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		results[claim.UID] = err
	}
	return results, nil
}

func (d *driver) HandleError(_ context.Context, err error, msg string) {
	fmt.Fprintln(os.Stderr, "demo-driver:", msg, err)
}

// WatchHealthStatus reports nothing: the service is optional.
func (d *driver) WatchHealthStatus(ctx context.Context, _ chan<- kubeletplugin.DeviceHealthReport) error {
	<-ctx.Done()
	return nil
}
