// cri-judge is the small part of crictl and kubelet that the tests need: it makes an image by hand,
// and runs a container by CRI on a real runtime.
// SPDX-License-Identifier: Apache-2.0 OR MIT
//
//	cri-judge image OUT.tar BUSYBOX            an image "judge/busybox:1" of that static busybox
//	cri-judge run [-cdi NAMES] [-annotation K=V]... [-pod-annotation K=V]... COMMAND...
//	                                           pod, container, its output, clean-up
//	cri-judge status                           the runtime's StatusResponse as JSON
//
// The image is imported with "ctr -n k8s.io images import OUT.tar". It is the pause image, too: its
// entry point is "sleep". So nothing is pulled. The pod is in the host's network, so no CNI plugin is
// needed.
package main

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/protojson"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

const imageName = "docker.io/judge/busybox:1"

func main() {
	endpoint := flag.String("endpoint", "unix:///run/containerd/containerd.sock", "CRI socket")
	flag.Parse()
	var err error
	switch arguments := flag.Args(); {
	case len(arguments) == 3 && arguments[0] == "image":
		err = writeImage(arguments[1], arguments[2])
	case len(arguments) > 1 && arguments[0] == "run":
		err = run(*endpoint, arguments[1:])
	case len(arguments) == 1 && arguments[0] == "status":
		err = status(*endpoint)
	default:
		err = errors.New("usage: cri-judge [-endpoint E] image OUT BUSYBOX | run … COMMAND… | status")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cri-judge:", err)
		os.Exit(1)
	}
}

// writeImage writes an OCI image layout with one layer: /bin/busybox and links.
func writeImage(out, busybox string) error {
	program, err := os.ReadFile(busybox)
	if err != nil {
		return err
	}
	var layer bytes.Buffer
	tree := tar.NewWriter(&layer)
	for _, dir := range []string{"bin/", "dev/", "etc/", "proc/", "sys/", "tmp/", "usr/", "var/"} {
		tree.WriteHeader(&tar.Header{Name: dir, Typeflag: tar.TypeDir, Mode: 0o755})
	}
	tree.WriteHeader(&tar.Header{Name: "bin/busybox", Mode: 0o755, Size: int64(len(program))})
	tree.Write(program)
	for _, name := range []string{"cat", "env", "echo", "ls", "mount", "sh", "sleep", "stat", "test", "touch"} {
		tree.WriteHeader(&tar.Header{Name: "bin/" + name, Typeflag: tar.TypeSymlink, Linkname: "busybox"})
	}
	if err := tree.Close(); err != nil {
		return err
	}

	file, err := os.Create(out)
	if err != nil {
		return err
	}
	defer file.Close()
	image := tar.NewWriter(file)
	put := func(name string, content []byte) {
		image.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))})
		image.Write(content)
	}
	blob := func(mediaType string, content []byte) map[string]any {
		sum := fmt.Sprintf("%x", sha256.Sum256(content))
		put("blobs/sha256/"+sum, content)
		return map[string]any{"mediaType": mediaType, "digest": "sha256:" + sum, "size": len(content)}
	}
	object := func(value any) []byte { text, _ := json.Marshal(value); return text }
	const oci = "application/vnd.oci.image."
	put("oci-layout", object(map[string]string{"imageLayoutVersion": "1.0.0"}))
	rootfs := blob(oci+"layer.v1.tar", layer.Bytes())
	config := blob(oci+"config.v1+json", object(map[string]any{"architecture": "amd64", "os": "linux",
		"config": map[string]any{"Env": []string{"PATH=/bin"}, "Entrypoint": []string{"/bin/sleep", "1000000"}},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []any{rootfs["digest"]}}}))
	manifest := blob(oci+"manifest.v1+json", object(map[string]any{"schemaVersion": 2,
		"mediaType": oci + "manifest.v1+json", "config": config, "layers": []any{rootfs}}))
	manifest["annotations"] = map[string]string{"io.containerd.image.name": imageName,
		"org.opencontainers.image.ref.name": "1"}
	put("index.json", object(map[string]any{"schemaVersion": 2, "manifests": []any{manifest}}))
	return image.Close()
}

func connect(endpoint string) (*grpc.ClientConn, cri.RuntimeServiceClient, error) {
	conn, err := grpc.NewClient(endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, nil, err
	}
	return conn, cri.NewRuntimeServiceClient(conn), nil
}

func status(endpoint string) error {
	conn, runtime, err := connect(endpoint)
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	answer, err := runtime.Status(ctx, &cri.StatusRequest{})
	if err != nil {
		return err
	}
	fmt.Println(protojson.Format(answer))
	return nil
}

// pairs is a repeated flag of the form KEY=VALUE.
type pairs map[string]string

func (p pairs) String() string { return "" }
func (p pairs) Set(text string) error {
	key, value, found := strings.Cut(text, "=")
	if !found {
		return errors.New("KEY=VALUE is wanted")
	}
	p[key] = value
	return nil
}

// run starts one container, prints what it wrote and returns an error when it
// failed. Pod and container are removed in any case.
func run(endpoint string, arguments []string) (failed error) {
	flags := flag.NewFlagSet("run", flag.ExitOnError)
	devices := flags.String("cdi", "", "names for the CRI's CDI_devices field, comma-separated")
	container, pod := pairs{}, pairs{}
	flags.Var(container, "annotation", "annotation KEY=VALUE of the container")
	flags.Var(pod, "pod-annotation", "annotation KEY=VALUE of the pod")
	name := flags.String("name", "main", "name of the container")
	image := flags.String("image", imageName, "image, already imported")
	cgroup := flags.String("cgroup-parent", "", "cgroup of the pod")
	flags.Parse(arguments)

	conn, runtime, err := connect(endpoint)
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	logs, err := os.MkdirTemp("", "cri-judge")
	if err != nil {
		return err
	}
	defer os.RemoveAll(logs)

	host := &cri.NamespaceOption{Network: cri.NamespaceMode_NODE, Pid: cri.NamespaceMode_CONTAINER}
	uid := fmt.Sprintf("judge-%d", os.Getpid())
	sandbox := &cri.PodSandboxConfig{
		Metadata:     &cri.PodSandboxMetadata{Name: uid, Namespace: "default", Uid: uid},
		Annotations:  pod,
		LogDirectory: logs,
		Linux: &cri.LinuxPodSandboxConfig{CgroupParent: *cgroup,
			SecurityContext: &cri.LinuxSandboxSecurityContext{NamespaceOptions: host}},
	}
	podAnswer, err := runtime.RunPodSandbox(ctx, &cri.RunPodSandboxRequest{Config: sandbox})
	if err != nil {
		return fmt.Errorf("RunPodSandbox: %w", err)
	}
	id := podAnswer.PodSandboxId
	defer func() {
		_, stop := runtime.StopPodSandbox(ctx, &cri.StopPodSandboxRequest{PodSandboxId: id})
		_, remove := runtime.RemovePodSandbox(ctx, &cri.RemovePodSandboxRequest{PodSandboxId: id})
		failed = errors.Join(failed, stop, remove)
	}()

	config := &cri.ContainerConfig{
		Metadata:    &cri.ContainerMetadata{Name: *name},
		Image:       &cri.ImageSpec{Image: *image},
		Command:     flags.Args(),
		Annotations: container,
		LogPath:     "log",
		Linux:       &cri.LinuxContainerConfig{SecurityContext: &cri.LinuxContainerSecurityContext{NamespaceOptions: host}},
	}
	for _, device := range strings.FieldsFunc(*devices, func(r rune) bool { return r == ',' }) {
		config.CDIDevices = append(config.CDIDevices, &cri.CDIDevice{Name: device})
	}
	created, err := runtime.CreateContainer(ctx, &cri.CreateContainerRequest{
		PodSandboxId: id, Config: config, SandboxConfig: sandbox})
	if err != nil {
		return fmt.Errorf("CreateContainer: %w", err)
	}
	if _, err := runtime.StartContainer(ctx, &cri.StartContainerRequest{ContainerId: created.ContainerId}); err != nil {
		return fmt.Errorf("StartContainer: %w", err)
	}
	for {
		answer, err := runtime.ContainerStatus(ctx, &cri.ContainerStatusRequest{ContainerId: created.ContainerId})
		if err != nil {
			return fmt.Errorf("ContainerStatus: %w", err)
		}
		if answer.Status.State == cri.ContainerState_CONTAINER_EXITED {
			printLog(filepath.Join(logs, "log"))
			if answer.Status.ExitCode != 0 {
				return fmt.Errorf("the container ended with %d %s", answer.Status.ExitCode, answer.Status.Message)
			}
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// printLog prints a CRI log ("TIME STREAM F|P TEXT" lines) as the container wrote it.
func printLog(name string) {
	content, _ := os.ReadFile(name)
	for _, line := range strings.Split(strings.TrimSuffix(string(content), "\n"), "\n") {
		parts := strings.SplitN(line, " ", 4)
		if len(parts) < 4 {
			continue
		}
		end := "\n"
		if parts[2] == "P" {
			end = ""
		}
		out := io.Writer(os.Stdout)
		if parts[1] == "stderr" {
			out = os.Stderr
		}
		fmt.Fprint(out, parts[3], end)
	}
}
