// device-judge is the part of kubelet that a device plugin talks to: its device manager, with the
// service Registration on device-plugins/kubelet.sock.
// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A test writes lines to standard input, and reads one line of JSON for each from standard output; the
// log of kubelet goes to standard error.
//
//	wait RESOURCE COUNT [SECONDS]      until COUNT healthy devices are known (30 s)
//	capacity                           capacity and allocatable of each resource
//	allocate POD RESOURCE COUNT        Allocate, then all that the container gets
//	free POD                           the pod is gone, its devices are free again
//
// The path of the device manager's socket is fixed, so the judge runs in a mount namespace of its own
// with -root on /var/lib/kubelet: a plugin finds the socket in ROOT/device-plugins. It needs root, or
// user namespaces.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/cm/containermap"
	"k8s.io/kubernetes/pkg/kubelet/cm/devicemanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager"
	"k8s.io/kubernetes/pkg/kubelet/lifecycle"

	"k8s-judges/kubernetes/internal/cluster"
)

const kubeletDir = "/var/lib/kubelet"

type judge struct {
	manager *devicemanager.ManagerImpl

	mutex sync.Mutex
	pods  map[string]*v1.Pod
}

func main() {
	klog.InitFlags(nil)
	root := flag.String("root", kubeletDir, "the kubelet's directory: device-plugins/")
	flag.Parse()
	var err error
	switch {
	case *root == kubeletDir:
		err = run()
	case os.Getenv("DEVICE_JUDGE_INSIDE") == "":
		err = again()
	default:
		err = enter(*root)
		if err == nil {
			err = run()
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "device-judge:", err)
		os.Exit(1)
	}
}

// again starts this program in a mount namespace of its own.
func again() error {
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Env = append(os.Environ(), "DEVICE_JUDGE_INSIDE=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	return cmd.Run()
}

// enter puts root on /var/lib/kubelet, seen by this process alone. A kubelet's
// directory need not exist: /var/lib is covered by an empty one first.
func enter(root string) error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("private mounts: %w", err)
	}
	dir, err := os.Open(root)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := syscall.Mount("tmpfs", "/var/lib", "tmpfs", 0, "mode=755"); err != nil {
		return fmt.Errorf("tmpfs on /var/lib: %w", err)
	}
	if err := os.Mkdir(kubeletDir, 0o755); err != nil {
		return err
	}
	return syscall.Mount(fmt.Sprintf("/proc/self/fd/%d", dir.Fd()), kubeletDir, "", syscall.MS_BIND, "")
}

func run() error {
	ctx := klog.NewContext(context.Background(), klog.Background())
	logger := klog.FromContext(ctx)
	manager, err := devicemanager.NewManagerImpl(logger, nil, topologymanager.NewFakeManager(logger))
	if err != nil {
		return err
	}
	j := &judge{manager: manager, pods: map[string]*v1.Pod{}}
	err = manager.Start(logger, j.activePods, cluster.AlwaysReady{}, containermap.NewContainerMap(), sets.New[string]())
	if err != nil {
		return err
	}
	defer manager.Stop(logger)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		if words := strings.Fields(lines.Text()); len(words) > 0 {
			cluster.Answer(j.command(ctx, words))
		}
	}
	return lines.Err()
}

func (j *judge) command(ctx context.Context, words []string) (map[string]any, error) {
	words = append(words, "", "", "")
	switch words[0] {
	case "wait":
		seconds := 30
		count, err := strconv.ParseInt(words[2], 10, 64)
		if err == nil && words[3] != "" {
			seconds, err = strconv.Atoi(words[3])
		}
		if err != nil {
			return nil, err
		}
		for deadline := time.Now().Add(time.Duration(seconds) * time.Second); ; time.Sleep(20 * time.Millisecond) {
			_, allocatable, _ := j.manager.GetCapacity(klog.FromContext(ctx))
			quantity := allocatable[v1.ResourceName(words[1])]
			if quantity.Value() == count {
				return nil, nil
			}
			if time.Now().After(deadline) {
				return nil, fmt.Errorf("%s has %d devices, not %d", words[1], quantity.Value(), count)
			}
		}
	case "capacity":
		capacity, allocatable, removed := j.manager.GetCapacity(klog.FromContext(ctx))
		return map[string]any{"capacity": capacity, "allocatable": allocatable, "removed": removed}, nil
	case "allocate":
		return j.allocate(ctx, words[1], v1.ResourceName(words[2]), words[3])
	case "free":
		j.mutex.Lock()
		delete(j.pods, words[1])
		j.mutex.Unlock()
		j.manager.UpdateAllocatedDevices(klog.FromContext(ctx))
		return nil, nil
	}
	return nil, fmt.Errorf("unknown command %q", words[0])
}

// allocate does what kubelet does when it admits a pod and starts its container.
func (j *judge) allocate(ctx context.Context, name string, resourceName v1.ResourceName, count string) (map[string]any, error) {
	quantity, err := resource.ParseQuantity(count)
	if err != nil {
		return nil, err
	}
	list := v1.ResourceList{resourceName: quantity}
	pod := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID(name)},
		Spec: v1.PodSpec{Containers: []v1.Container{{Name: "main",
			Resources: v1.ResourceRequirements{Limits: list, Requests: list}}}}}
	j.mutex.Lock()
	j.pods[name] = pod
	j.mutex.Unlock()
	container := &pod.Spec.Containers[0]
	if err := j.manager.Allocate(ctx, pod, container, lifecycle.AddOperation); err != nil {
		return nil, err
	}
	options, err := j.manager.GetDeviceRunContainerOptions(ctx, pod, container)
	if err != nil || options == nil {
		return nil, err
	}
	ids := []string{}
	for id := range j.manager.GetDevices(name, container.Name)[string(resourceName)] {
		ids = append(ids, id)
	}
	cdi := []string{}
	for _, device := range options.CDIDevices {
		cdi = append(cdi, device.Name)
	}
	return map[string]any{"ids": ids, "cdi": cdi, "env": options.Envs, "mounts": options.Mounts,
		"devices": options.Devices, "annotations": options.Annotations}, nil
}

func (j *judge) activePods() []*v1.Pod {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	var pods []*v1.Pod
	for _, pod := range j.pods {
		pods = append(pods, pod)
	}
	return pods
}
