// nri-judge is the runtime's side of NRI: the adaptation package that containerd and CRI-O are built
// on, without containers around it.
// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Plugins connect to -socket. A test writes lines to standard input, and reads one line of JSON for
// each from standard output; the log goes to standard error.
//
//	ready                         when plugins can connect
//	wait COUNT [SECONDS]          until COUNT plugins are registered and synchronised (30 s)
//	sandbox JSON                  RunPodSandbox; JSON is an nri.pkg.api.v1alpha1.PodSandbox
//	create JSON                   CreateContainer; JSON is {"pod": ..., "container": ...}
//	creates COUNT AT_ONCE JSON    the same request COUNT times, up to AT_ONCE at a time
//	remove JSON                   RemoveContainer, the same JSON
//
// "create" answers the merged adjustment of the plugins, and the OCI spec after the runtime applied
// it in its own order. As in containerd, the devices of the CRI field are injected before that. The
// Go library injects CDI devices from -cdi-dirs; with -no-cdi, the runtime has no CDI. "wait" answers
// how long the last Synchronize took, "creates" how long each CreateContainer took, in microseconds.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/nri/pkg/api"
	nrigen "github.com/containerd/nri/pkg/runtime-tools/generate"
	rspec "github.com/opencontainers/runtime-spec/specs-go"
	"github.com/opencontainers/runtime-tools/generate"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"tags.cncf.io/container-device-interface/pkg/cdi"
)

// plugins counts the registered plugins: the adaptation tells it to its metrics.
type plugins struct{ count atomic.Int64 }

func (p *plugins) UpdatePluginCount(count int)                                             { p.count.Store(int64(count)) }
func (*plugins) RecordPluginInvocation(string, string, error)                              {}
func (*plugins) RecordPluginLatency(string, string, time.Duration)                         {}
func (*plugins) RecordPluginAdjustments(_, _ string, _ *api.ContainerAdjustment, _, _ int) {}

func main() {
	socket := flag.String("socket", "/var/run/nri/nri.sock", "socket for plugins")
	cdiDirs := flag.String("cdi-dirs", "/etc/cdi,/var/run/cdi", "CDI spec folders, comma-separated")
	noCDI := flag.Bool("no-cdi", false, "be a runtime without a CDI injector")
	timeout := flag.Duration("timeout", 2*time.Second, "request timeout")
	pods := flag.Int("pods", 0, "how many pods Synchronize tells of")
	podBytes := flag.Int("pod-bytes", 100, "length of each such pod's annotation (4 MiB in all forces split messages)")
	asking := flag.String("pod-annotation", "", "KEY=VALUE of each such pod, which then has a container")
	state := flag.String("state", "", "file with a SynchronizeRequest as JSON: more pods, and containers")
	plugins := flag.String("plugins", "/nonexistent", "folder of plugins to launch")
	configs := flag.String("plugin-configs", "/nonexistent", "folder of their configurations")
	version := flag.String("runtime", "nri-judge/1", "NAME/VERSION that plugins are told")
	flag.Parse()
	known, err := knownState(*state, *pods, *podBytes, *asking)
	if err == nil {
		adaptation.SetPluginRequestTimeout(*timeout)
		name, number, _ := strings.Cut(*version, "/")
		err = run(injector(*cdiDirs, *noCDI), known, name, number, adaptation.WithSocketPath(*socket),
			adaptation.WithPluginPath(*plugins), adaptation.WithPluginConfigPath(*configs))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "nri-judge:", err)
		os.Exit(1)
	}
}

// knownState is what Synchronize tells: the content of a file, and generated pods.
func knownState(file string, pods, podBytes int, asking string) (*api.SynchronizeRequest, error) {
	state := &api.SynchronizeRequest{}
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if err := protojson.Unmarshal(text, state); err != nil {
			return nil, err
		}
	}
	key, value, _ := strings.Cut(asking, "=")
	for i := range pods {
		name := fmt.Sprint("pod", i)
		pod := &api.PodSandbox{Id: name, Name: name, Namespace: "default",
			Annotations: map[string]string{"filler": strings.Repeat("x", podBytes)}}
		state.Pods = append(state.Pods, pod)
		if asking != "" {
			pod.Annotations[key] = value
			state.Containers = append(state.Containers, &api.Container{Id: "in-" + name, PodSandboxId: name,
				Name: "in-" + name, State: api.ContainerState_CONTAINER_RUNNING})
		}
	}
	return state, nil
}

// injectDevices adds CDI devices to an OCI spec.
type injectDevices func(*rspec.Spec, []string) error

// injector is what a runtime with the Go library does, or one without CDI, which ignores names.
func injector(cdiDirs string, noCDI bool) injectDevices {
	if noCDI {
		return func(*rspec.Spec, []string) error { return nil }
	}
	cache, err := cdi.NewCache(cdi.WithSpecDirs(strings.Split(cdiDirs, ",")...))
	return func(spec *rspec.Spec, names []string) error {
		if err != nil || len(names) == 0 {
			return err
		}
		_, err := cache.InjectDevices(spec, names...)
		return err
	}
}

// judge is a runtime that a test commands.
type judge struct {
	runtime       *adaptation.Adaptation
	registered    *plugins
	inject        injectDevices
	synchronizing atomic.Int64 // microseconds that the last Synchronize took
}

func run(inject injectDevices, known *api.SynchronizeRequest, name, version string,
	options ...adaptation.Option) error {
	j := &judge{registered: &plugins{}, inject: inject}
	synchronize := func(ctx context.Context, callback adaptation.SyncCB) error {
		begin := time.Now()
		_, err := callback(ctx, known.Pods, known.Containers)
		j.synchronizing.Store(time.Since(begin).Microseconds())
		return err
	}
	update := func(context.Context, []*api.ContainerUpdate) ([]*api.ContainerUpdate, error) { return nil, nil }
	var err error
	j.runtime, err = adaptation.New(name, version, synchronize, update,
		append(options, adaptation.WithMetrics(j.registered))...)
	if err != nil {
		return err
	}
	if err := j.runtime.Start(); err != nil {
		return err
	}
	defer j.runtime.Stop()
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		command, rest, _ := strings.Cut(strings.TrimSpace(lines.Text()), " ")
		if command == "" {
			continue
		}
		answer, err := j.execute(command, rest)
		if answer == nil {
			answer = map[string]any{}
		}
		answer["ok"] = err == nil
		if err != nil {
			answer["error"] = err.Error()
		}
		line, _ := json.Marshal(answer)
		fmt.Println(string(line))
	}
	return lines.Err()
}

func (j *judge) execute(command, rest string) (map[string]any, error) {
	switch command {
	case "ready":
		return nil, nil
	case "wait":
		return j.wait(strings.Fields(rest))
	case "sandbox":
		pod := &api.PodSandbox{}
		if err := protojson.Unmarshal([]byte(rest), pod); err != nil {
			return nil, err
		}
		return nil, j.runtime.RunPodSandbox(context.Background(), &api.RunPodSandboxRequest{Pod: pod})
	case "create", "remove":
		request := &api.CreateContainerRequest{}
		if err := protojson.Unmarshal([]byte(rest), request); err != nil {
			return nil, err
		}
		if command == "create" {
			return j.create(request)
		}
		return nil, j.runtime.RemoveContainer(context.Background(),
			&api.RemoveContainerRequest{Pod: request.Pod, Container: request.Container})
	case "creates":
		return j.creates(strings.SplitN(rest, " ", 3))
	}
	return nil, fmt.Errorf("unknown command %q", command)
}

func (j *judge) wait(words []string) (map[string]any, error) {
	words = append(words, "30")
	if len(words) < 2 {
		return nil, errors.New("wait COUNT [SECONDS]")
	}
	count, err := strconv.ParseInt(words[0], 10, 64)
	seconds, err2 := strconv.Atoi(words[1])
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	nothing := &api.RemovePodSandboxRequest{Pod: &api.PodSandbox{}}
	for deadline := time.Now().Add(time.Duration(seconds) * time.Second); ; time.Sleep(5 * time.Millisecond) {
		// The adaptation forgets closed plugins at its next request.
		if err := j.runtime.RemovePodSandbox(context.Background(), nothing); err != nil {
			return nil, err
		}
		now := j.registered.count.Load()
		if now == count {
			return map[string]any{"synchronize_us": j.synchronizing.Load()}, nil
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("%d plugins are registered, not %d", now, count)
		}
	}
}

// ociSpec is that of a container before plugins are asked: with the devices of the CRI field.
func (j *judge) ociSpec(container *api.Container) (*generate.Generator, error) {
	generator, err := generate.New("linux")
	if err != nil {
		return nil, err
	}
	config := generator.Config
	config.Process.Env = append([]string{}, container.GetEnv()...)
	config.Linux.Seccomp = nil // long
	for _, mount := range container.GetMounts() {
		config.Mounts = append(config.Mounts, mount.ToOCI(nil))
	}
	for _, device := range container.GetLinux().GetDevices() {
		config.Linux.Devices = append(config.Linux.Devices, device.ToOCI())
	}
	for _, hook := range container.GetHooks().GetCreateRuntime() {
		if config.Hooks == nil {
			config.Hooks = &rspec.Hooks{}
		}
		config.Hooks.CreateRuntime = append(config.Hooks.CreateRuntime, hook.ToOCI())
	}
	var names []string
	for _, device := range container.GetCDIDevices() {
		names = append(names, device.Name)
	}
	return &generator, j.inject(config, names)
}

// create is what a runtime does, until the container itself.
func (j *judge) create(request *api.CreateContainerRequest) (map[string]any, error) {
	generator, err := j.ociSpec(request.Container)
	if err != nil {
		return nil, err
	}
	response, err := j.runtime.CreateContainer(context.Background(), request)
	if err != nil {
		return nil, err
	}
	adjust, err := protojson.Marshal(response.Adjust)
	if err != nil {
		return nil, err
	}
	answer := map[string]any{"adjust": json.RawMessage(adjust), "bytes": proto.Size(response)}
	err = nrigen.SpecGenerator(generator, nrigen.WithCDIDeviceInjector(j.inject)).Adjust(response.Adjust)
	answer["spec"] = generator.Config
	return answer, err
}

// creates sends the same request many times, and answers how long each took, and the errors.
func (j *judge) creates(words []string) (map[string]any, error) {
	if len(words) < 3 {
		return nil, errors.New("creates COUNT AT_ONCE JSON")
	}
	count, err := strconv.Atoi(words[0])
	atOnce, err2 := strconv.Atoi(words[1])
	request := &api.CreateContainerRequest{}
	err3 := protojson.Unmarshal([]byte(words[2]), request)
	if err := errors.Join(err, err2, err3); err != nil {
		return nil, err
	}
	took, failed := make([]int64, count), make([]string, count)
	next := make(chan int)
	var workers sync.WaitGroup
	for range atOnce {
		workers.Go(func() {
			for i := range next {
				own := proto.Clone(request).(*api.CreateContainerRequest)
				begin := time.Now()
				_, err := j.runtime.CreateContainer(context.Background(), own)
				took[i] = time.Since(begin).Microseconds()
				if err != nil {
					failed[i] = err.Error()
				}
			}
		})
	}
	for i := range count {
		next <- i
	}
	close(next)
	workers.Wait()
	errors := []string{}
	for _, text := range failed {
		if text != "" {
			errors = append(errors, text)
		}
	}
	return map[string]any{"us": took, "errors": errors}, nil
}
