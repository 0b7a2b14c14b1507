// SPDX-License-Identifier: Apache-2.0 OR MIT

// Runs the Go reference, of the release that go.mod names, on the inputs of conformance.cpp,
// tables.cpp and trees.cpp. Prints one JSON line for each.
//
//	peer vectors FILE...    the results of each vector, like `conformance FILE...`
//	peer specs FILE...      the devices of each spec file, or the error
//	peer tables FILE...     each row of the tables, with the results of the reference
//	peer trees              the tree of each YAML text of the standard input, like trees.cpp
//	peer answers            an answer to each request of the standard input, for the fuzz targets
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"syscall"

	oci "github.com/opencontainers/runtime-spec/specs-go"
	"tags.cncf.io/container-device-interface/pkg/cdi"
	"tags.cncf.io/container-device-interface/pkg/parser"
	"tags.cncf.io/container-device-interface/specs-go"
)

// Object is the content of a line.
type Object = map[string]any

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func read(path string, to any) {
	text, err := os.ReadFile(path)
	check(err)
	check(json.Unmarshal(text, to))
}

func print(line any) {
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	check(out.Encode(line))
}

// A list is never null in the output.
func list(items []string) []string {
	return append([]string{}, items...)
}

// File is an entry in a directory of the vector. It has one of the last five members.
type File struct {
	Dir     int
	Name    string
	Content *string
	Bytes   []byte `json:"content_b64"`
	Symlink string
	Fifo    bool
	Mkdir   bool
}

type Vector struct {
	Name     string
	Files    []File
	Dirs     *int
	SpecDirs []string
	OCI      json.RawMessage
	Devices  []string
}

func (file File) make(root string) {
	path := filepath.Join(root, "dir"+strconv.Itoa(file.Dir), file.Name)
	check(os.MkdirAll(filepath.Dir(path), 0o755))
	switch {
	case file.Symlink != "":
		check(os.Symlink(strings.ReplaceAll(file.Symlink, "$TMP", root), path))
	case file.Fifo:
		check(syscall.Mkfifo(path, 0o600))
		check(os.Chmod(path, 0o640)) // for any umask
	case file.Mkdir:
		check(os.MkdirAll(path, 0o755))
	case file.Content != nil:
		text := strings.ReplaceAll(*file.Content, "$TMP", root)
		check(os.WriteFile(path, []byte(text), 0o644))
	default:
		check(os.WriteFile(path, file.Bytes, 0o644))
	}
}

// makeDirs makes the spec directories of a vector, and returns them.
func (vector Vector) makeDirs(root string) []string {
	count := 0
	if vector.Dirs != nil {
		count = *vector.Dirs
	}
	for _, file := range vector.Files {
		file.make(root)
		count = max(count, file.Dir+1)
	}
	var dirs []string
	for i := 0; i < count; i++ {
		dirs = append(dirs, filepath.Join(root, "dir"+strconv.Itoa(i)))
		if vector.Dirs == nil || i < *vector.Dirs {
			check(os.MkdirAll(dirs[i], 0o755))
		}
	}
	if vector.SpecDirs == nil {
		return dirs
	}
	dirs = nil
	for _, dir := range vector.SpecDirs {
		dirs = append(dirs, strings.ReplaceAll(dir, "$TMP", root))
	}
	return dirs
}

func specErrors(cache *cdi.Cache, root string) map[string][]string {
	errors := map[string][]string{}
	for path, list := range cache.GetErrors() {
		name := filepath.Base(path)
		for _, err := range list {
			errors[name] = append(errors[name], strings.ReplaceAll(err.Error(), root, "$TMP"))
		}
		sort.Strings(errors[name])
	}
	return errors
}

// asValue is an OCI spec as a JSON value, with `$TMP` for the temporary directory.
func asValue(spec *oci.Spec, root string) any {
	text, err := json.Marshal(spec)
	check(err)
	in := json.NewDecoder(strings.NewReader(strings.ReplaceAll(string(text), root, "$TMP")))
	in.UseNumber() // keeps all digits
	var value any
	check(in.Decode(&value))
	return value
}

func (vector Vector) inject(cache *cdi.Cache, root string) Object {
	var spec *oci.Spec
	check(json.Unmarshal([]byte(strings.ReplaceAll(string(vector.OCI), "$TMP", root)), &spec))
	var names []string
	for _, name := range vector.Devices {
		names = append(names, strings.ReplaceAll(name, "$TMP", root))
	}
	before := asValue(spec, root)
	unresolved, err := cache.InjectDevices(spec, names...)
	after := asValue(spec, root)
	line := Object{"ok": err == nil, "unresolved": list(unresolved)}
	if err == nil {
		line["oci"] = after
		return line
	}
	line["error"] = strings.ReplaceAll(err.Error(), root, "$TMP")
	if !reflect.DeepEqual(before, after) {
		line["oci_after_error"] = after
	}
	return line
}

func (vector Vector) run() (line Object) {
	root, err := os.MkdirTemp("", "cdi-peer-")
	check(err)
	defer os.RemoveAll(root)
	defer func() {
		if panicked := recover(); panicked != nil {
			line = Object{"name": vector.Name, "load_panic": fmt.Sprint(panicked)}
		}
	}()
	cache, err := cdi.NewCache(cdi.WithSpecDirs(vector.makeDirs(root)...),
		cdi.WithAutoRefresh(false))
	check(err)
	return Object{
		"name":        vector.Name,
		"devices":     list(cache.ListDevices()),
		"vendors":     list(cache.ListVendors()),
		"classes":     list(cache.ListClasses()),
		"spec_errors": specErrors(cache, root),
		"inject":      vector.inject(cache, root),
	}
}

func runSpec(path string) (line Object) {
	defer func() {
		if panicked := recover(); panicked != nil {
			line = Object{"file": path, "load_panic": fmt.Sprint(panicked)}
		}
	}()
	spec, err := cdi.ReadSpec(path, 0)
	if err != nil {
		return Object{"file": path, "ok": false, "error": err.Error()}
	}
	names := []string{}
	for _, device := range spec.Devices {
		names = append(names, parser.QualifiedName(spec.GetVendor(), spec.GetClass(), device.Name))
	}
	sort.Strings(names)
	return Object{"file": path, "ok": true, "devices": names}
}

// Row is a row of any table. Its inputs are the arguments of the function.
type Row struct {
	In       any // a text, or annotations
	Kind     string
	ID       string `json:"transient_id"`
	Plugin   string
	DeviceID string `json:"device_id"`
	Devices  []string
}

func (row Row) text() string {
	text, _ := row.In.(string)
	return text
}

func (row Row) annotations() map[string]string {
	members, given := row.In.(map[string]any)
	if !given {
		return nil
	}
	annotations := map[string]string{}
	for key, value := range members {
		annotations[key] = value.(string)
	}
	return annotations
}

func message(err error) any {
	if err == nil {
		return nil
	}
	return err.Error()
}

func parts(row Row) Object {
	return Object{
		"validate_vendor_error": message(parser.ValidateVendorName(row.text())),
		"validate_class_error":  message(parser.ValidateClassName(row.text())),
		"validate_device_error": message(parser.ValidateDeviceName(row.text())),
	}
}

func names(row Row) Object {
	answers := parts(row)
	vendor, class, device, err := parser.ParseQualifiedName(row.text())
	answers["parse_qualified_name"] = []string{vendor, class, device}
	answers["error"] = message(err)
	answers["is_qualified_name"] = parser.IsQualifiedName(row.text())
	vendor, class, device = parser.ParseDevice(row.text())
	answers["parse_device"] = []string{vendor, class, device}
	vendor, class = parser.ParseQualifier(row.text())
	answers["parse_qualifier"] = []string{vendor, class}
	return answers
}

func specNames(row Row) Object {
	spec := specs.Spec{Kind: row.Kind}
	name, err := cdi.GenerateNameForSpec(&spec)
	transient, transientErr := cdi.GenerateNameForTransientSpec(&spec, row.ID)
	return Object{"name": name, "error": message(err),
		"transient_name": transient, "transient_error": message(transientErr)}
}

func annotationKey(row Row) Object {
	key, err := cdi.AnnotationKey(row.Plugin, row.DeviceID)
	return Object{"key": key, "error": message(err)}
}

func annotationValue(row Row) Object {
	value, err := cdi.AnnotationValue(row.Devices)
	return Object{"value": value, "error": message(err)}
}

func updateAnnotations(row Row) Object {
	out, err := cdi.UpdateAnnotations(row.annotations(), row.Plugin, row.DeviceID, row.Devices)
	return Object{"out": out, "error": message(err)}
}

func parseAnnotations(row Row) Object {
	keys, devices, err := cdi.ParseAnnotations(row.annotations())
	sort.Strings(keys)
	sort.Strings(devices)
	return Object{"keys_sorted": keys, "devices_sorted": devices, "error": message(err)}
}

func prefix(Row) Object {
	return Object{"prefix": cdi.AnnotationPrefix}
}

var tables = map[string]func(Row) Object{
	"prefix":             prefix,
	"names":              names,
	"parts":              parts,
	"spec_names":         specNames,
	"annotation_key":     annotationKey,
	"annotation_value":   annotationValue,
	"update_annotations": updateAnnotations,
	"parse_annotations":  parseAnnotations,
}

func runTables(path string) {
	var file map[string]json.RawMessage
	read(path, &file)
	for name, text := range file {
		answers, known := tables[name]
		if !known {
			log.Fatal("unknown table: ", name)
		}
		rows := []Row{{}} // a constant is a table of one row
		if text[0] == '[' {
			rows = nil
			check(json.Unmarshal(text, &rows))
		}
		for i, row := range rows {
			print(Object{"table": name, "row": i, "answers": answers(row)})
		}
	}
}

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 {
		log.Fatal("usage: peer vectors|specs|tables FILE..., or peer trees|answers")
	}
	switch os.Args[1] {
	case "trees":
		runTrees()
		return
	case "answers":
		runAnswers()
		return
	}
	for _, path := range os.Args[2:] {
		switch os.Args[1] {
		case "vectors":
			var vector Vector
			read(path, &vector)
			print(vector.run())
		case "specs":
			print(runSpec(path))
		case "tables":
			runTables(path)
		default:
			log.Fatal("unknown command: ", os.Args[1])
		}
	}
}
