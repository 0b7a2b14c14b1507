// dra-judge is the part of kubelet that a DRA driver talks to: its plugin watcher and its DRA manager,
// without pods, nodes and containers around them.
// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A test writes lines to standard input, and reads one line of JSON for each from standard output; the
// log of kubelet goes to standard error.
//
//	wait DRIVER [SECONDS]   until a plugin of that driver is registered (30 s)
//	gone DRIVER [SECONDS]   until none is
//	prepare POD             as kubelet does before it starts the pod's containers
//	devices POD             the CDI devices of each container, as CRI gets them
//	unprepare POD           as kubelet does after the last container ended
//	delete POD              the pod is gone from the API server; what it still has
//	                        prepared, kubelet unprepares within 60 s
//	health POD              status.allocatedResourcesStatus of each container
//	slices                  names, drivers and generations of the ResourceSlices
//
// POD is NAMESPACE/NAME, or NAME in the namespace "default". Started again with the same -root, it is
// a kubelet after a restart; without its file dra_manager_state there, one that lost its checkpoint.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
	"k8s.io/kubernetes/pkg/kubelet/cm/dra"
	draplugin "k8s.io/kubernetes/pkg/kubelet/cm/dra/plugin"
	"k8s.io/kubernetes/pkg/kubelet/pluginmanager"

	"k8s-judges/kubernetes/internal/cluster"
)

// judge holds what the commands work on.
type judge struct {
	client  kubernetes.Interface
	manager *dra.Manager
}

func main() {
	klog.InitFlags(nil)
	root := flag.String("root", "/var/lib/kubelet", "the kubelet's directory: plugins_registry/ and dra_manager_state")
	kubeconfig := flag.String("kubeconfig", "", "a real API server (default: a fake one)")
	objects := flag.String("objects", "", "YAML files with the fake API server's objects, comma-separated")
	node := flag.String("node", "node1", "name of this node")
	flag.Parse()
	if err := run(*root, *kubeconfig, *objects, *node); err != nil {
		fmt.Fprintln(os.Stderr, "dra-judge:", err)
		os.Exit(1)
	}
}

func run(root, kubeconfig, objects, node string) error {
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), klog.Background()))
	defer cancel()
	client, err := cluster.Client(kubeconfig, objects)
	if err != nil {
		return err
	}
	registry := filepath.Join(root, "plugins_registry")
	if err := os.MkdirAll(registry, 0o750); err != nil {
		return err
	}

	// What kubelet.NewMainKubelet and kubelet.Run wire together.
	j := &judge{client: client}
	if j.manager, err = dra.NewManager(klog.Background(), client, root); err != nil {
		return err
	}
	getNode := func(ctx context.Context) (*v1.Node, error) {
		return client.CoreV1().Nodes().Get(ctx, node, metav1.GetOptions{})
	}
	if err := j.manager.Start(ctx, j.activePods, getNode, cluster.AlwaysReady{}); err != nil {
		return err
	}
	defer j.manager.Stop()
	watcher := pluginmanager.NewPluginManager(registry, record.NewFakeRecorder(100))
	watcher.AddHandler(registration.DRAPlugin, j.manager.GetWatcherHandler())
	go watcher.Run(ctx, cluster.AlwaysReady{}, ctx.Done())

	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		if words := strings.Fields(lines.Text()); len(words) > 0 {
			cluster.Answer(j.command(ctx, words))
		}
	}
	return lines.Err()
}

func (j *judge) command(ctx context.Context, words []string) (map[string]any, error) {
	argument := func(i int, otherwise string) string {
		if i < len(words) {
			return words[i]
		}
		return otherwise
	}
	switch words[0] {
	case "wait", "gone":
		seconds, err := strconv.Atoi(argument(2, "30"))
		if err != nil {
			return nil, err
		}
		return nil, j.await(argument(1, ""), words[0] == "wait", time.Duration(seconds)*time.Second)
	case "slices":
		return j.slices(ctx)
	}
	pod, err := cluster.Pod(ctx, j.client, argument(1, ""))
	if err != nil {
		return nil, err
	}
	switch words[0] {
	case "prepare":
		start := time.Now()
		if err := j.manager.PrepareResources(ctx, pod); err != nil {
			return nil, err
		}
		took := time.Since(start)
		answer, err := j.devices(pod)
		answer["milliseconds"] = float64(took.Microseconds()) / 1000
		return answer, err
	case "devices":
		return j.devices(pod)
	case "unprepare":
		return nil, j.manager.UnprepareResources(ctx, pod)
	case "delete":
		return nil, j.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{})
	case "health":
		status := pod.Status.DeepCopy()
		for _, container := range pod.Spec.Containers {
			status.ContainerStatuses = append(status.ContainerStatuses, v1.ContainerStatus{Name: container.Name})
		}
		j.manager.UpdateAllocatedResourcesStatus(klog.FromContext(ctx), pod, status)
		containers := map[string]any{}
		for _, container := range status.ContainerStatuses {
			containers[container.Name] = container.AllocatedResourcesStatus
		}
		return map[string]any{"containers": containers}, nil
	}
	return nil, fmt.Errorf("unknown command %q", words[0])
}

// await polls the plugin table until the driver is (or is no longer) in it.
func (j *judge) await(driver string, wanted bool, limit time.Duration) error {
	plugins := j.manager.GetWatcherHandler().(*draplugin.DRAPluginManager)
	for deadline := time.Now().Add(limit); ; time.Sleep(20 * time.Millisecond) {
		_, err := plugins.GetPlugin(driver)
		if (err == nil) == wanted {
			return nil
		}
		if time.Now().After(deadline) {
			if err == nil {
				err = fmt.Errorf("DRA driver %s is still registered", driver)
			}
			return err
		}
	}
}

// devices tells what kubelet would put into the CRI's CDI_devices field.
func (j *judge) devices(pod *v1.Pod) (map[string]any, error) {
	containers := map[string][]string{}
	for _, list := range [][]v1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			info, err := j.manager.GetResources(pod, &list[i])
			if err != nil {
				return map[string]any{}, err
			}
			names := []string{}
			for _, device := range info.CDIDevices {
				names = append(names, device.Name)
			}
			containers[list[i].Name] = names
		}
	}
	return map[string]any{"containers": containers}, nil
}

func (j *judge) slices(ctx context.Context) (map[string]any, error) {
	list, err := j.client.ResourceV1().ResourceSlices().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	slices := []map[string]any{}
	for _, slice := range list.Items {
		devices := []string{}
		for _, device := range slice.Spec.Devices {
			devices = append(devices, device.Name)
		}
		slices = append(slices, map[string]any{"name": slice.Name, "driver": slice.Spec.Driver,
			"pool": slice.Spec.Pool.Name, "generation": slice.Spec.Pool.Generation, "devices": devices})
	}
	return map[string]any{"slices": slices}, nil
}

// activePods are the pods that the manager's 60 s loop must not unprepare.
func (j *judge) activePods() []*v1.Pod {
	list, err := j.client.CoreV1().Pods("").List(context.Background(), metav1.ListOptions{})
	if err != nil {
		klog.Background().Error(err, "No list of pods")
		return nil
	}
	var pods []*v1.Pod
	for i := range list.Items {
		pods = append(pods, &list.Items[i])
	}
	return pods
}
