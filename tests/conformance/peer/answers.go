// Answers the requests of the fuzz targets with results of the Go reference.
// SPDX-License-Identifier: Apache-2.0 OR MIT

package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	oci "github.com/opencontainers/runtime-spec/specs-go"
	"tags.cncf.io/container-device-interface/pkg/cdi"
)

// dir is a spec directory, whose only file is the spec of the current request.
var dir string

func writeSpec(text string) string {
	path := filepath.Join(dir, "s.yaml")
	check(os.WriteFile(path, []byte(text), 0o644))
	return path
}

// readSpec answers with the members of a spec, or why the reference rejects it.
func readSpec(request []string) Object {
	spec, err := cdi.ReadSpec(writeSpec(request[0]), 0)
	if err != nil {
		return Object{"error": err.Error()}
	}
	return Object{"error": nil, "spec": spec.Spec}
}

// injectAll injects all devices of a spec into a config. The answer holds the config before and
// after, both as the reference writes them, and the names.
func injectAll(request []string) Object {
	var config *oci.Spec
	if err := json.Unmarshal([]byte(request[0]), &config); err != nil || config == nil {
		return Object{"error": "not a config"}
	}
	before, err := json.Marshal(config)
	check(err)
	writeSpec(request[1])
	cache, err := cdi.NewCache(cdi.WithSpecDirs(dir), cdi.WithAutoRefresh(false))
	check(err)
	names := cache.ListDevices()
	_, err = cache.InjectDevices(config, names...)
	return Object{"error": message(err), "names": list(names), "before": string(before),
		"after": config}
}

// parseAll answers for annotations, whose keys and values alternate in a request.
func parseAll(request []string) Object {
	annotations := map[string]any{}
	for i := 0; i+1 < len(request); i += 2 {
		annotations[request[i]] = request[i+1]
	}
	return parseAnnotations(Row{In: annotations})
}

var answers = map[string]func([]string) Object{
	"spec":   readSpec,
	"inject": injectAll,
	"names":  func(request []string) Object { return names(Row{In: request[0]}) },
	"spec_names": func(request []string) Object {
		return specNames(Row{Kind: request[0], ID: request[1]})
	},
	"annotation_key": func(request []string) Object {
		return annotationKey(Row{Plugin: request[0], DeviceID: request[1]})
	},
	"annotation_value": func(request []string) Object {
		return annotationValue(Row{Devices: request})
	},
	"update_annotations": func(request []string) Object {
		return updateAnnotations(Row{Plugin: request[0], DeviceID: request[1], Devices: request[2:]})
	},
	"parse_annotations": parseAll,
}

func answer(request []string) (line Object) {
	defer func() {
		if panicked := recover(); panicked != nil {
			line = Object{"error": fmt.Sprint("panic: ", panicked)}
		}
	}()
	return answers[request[0]](request[1:])
}

// readRequest reads the texts of a request, which follow their number. Each follows its size.
func readRequest(in io.Reader) ([]string, error) {
	var count uint32
	if err := binary.Read(in, binary.LittleEndian, &count); err != nil {
		return nil, err
	}
	request := make([]string, count)
	for i := range request {
		var size uint32
		check(binary.Read(in, binary.LittleEndian, &size))
		text := make([]byte, size)
		_, err := io.ReadFull(in, text)
		check(err)
		request[i] = string(text)
	}
	return request, nil
}

// runAnswers answers requests until the standard input ends. A request is the name of a function and
// its arguments; an answer is a line.
func runAnswers() {
	var err error
	dir, err = os.MkdirTemp("", "cdi-peer-")
	check(err)
	defer os.RemoveAll(dir)
	in := bufio.NewReader(os.Stdin)
	for {
		request, err := readRequest(in)
		if errors.Is(err, io.EOF) {
			return
		}
		check(err)
		print(answer(request))
	}
}
