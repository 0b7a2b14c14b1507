// Package cluster gives the judges and the demo plugins their API server: the real one that a
// kubeconfig names, or a fake one in the process, filled from YAML files.
// SPDX-License-Identifier: Apache-2.0 OR MIT
package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
)

// Client returns a client of the API server in kubeconfig, or, when that is
// empty, of a fake one that holds the objects of the comma-separated files.
func Client(kubeconfig, files string) (kubernetes.Interface, error) {
	if kubeconfig != "" {
		config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
		if err != nil {
			return nil, err
		}
		return kubernetes.NewForConfig(config)
	}
	var objects []runtime.Object
	for _, name := range strings.Split(files, ",") {
		if name == "" {
			continue
		}
		more, err := Load(name)
		if err != nil {
			return nil, err
		}
		objects = append(objects, more...)
	}
	return fake.NewClientset(objects...), nil
}

// Load decodes the YAML or JSON documents of one file with the API's own types;
// an unknown or doubled field is an error.
func Load(name string) ([]runtime.Object, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	codecs := serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict)
	documents := yaml.NewYAMLOrJSONDecoder(file, 4096)
	var objects []runtime.Object
	for {
		var raw runtime.RawExtension
		if err := documents.Decode(&raw); errors.Is(err, io.EOF) {
			return objects, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if len(raw.Raw) == 0 || string(raw.Raw) == "null" {
			continue
		}
		object, _, err := codecs.UniversalDeserializer().Decode(raw.Raw, nil, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		objects = append(objects, object)
	}
}

// Pod looks "namespace/name" (or "name" in "default") up.
func Pod(ctx context.Context, client kubernetes.Interface, name string) (*v1.Pod, error) {
	namespace, name, found := strings.Cut(name, "/")
	if !found {
		namespace, name = "default", namespace
	}
	return client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
}

// Answer prints one command's answer: a line of JSON with "ok" and either the
// given fields or "error".
func Answer(fields map[string]any, err error) {
	if fields == nil {
		fields = map[string]any{}
	}
	fields["ok"] = err == nil
	if err != nil {
		fields["error"] = err.Error()
	}
	line, _ := json.Marshal(fields)
	fmt.Println(string(line))
}

// AlwaysReady is a kubelet whose pod sources have all been seen.
type AlwaysReady struct{}

func (AlwaysReady) AddSource(string) {}
func (AlwaysReady) AllReady() bool   { return true }
