// SPDX-License-Identifier: Apache-2.0 OR MIT

// The Go side of run.sh: see ../ours.cpp, which measures the same in the same order. module.go and
// debian.go choose the release. `once DIR CONFIG NAME` does once what `cdi inject` does.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"math/rand"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	oci "github.com/opencontainers/runtime-spec/specs-go"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func microseconds(work func()) float64 {
	start := time.Now()
	work()
	return float64(time.Since(start).Nanoseconds()) / 1000
}

func median(times []float64) float64 {
	sort.Float64s(times)
	return times[len(times)/2]
}

// medianTime calls for a tenth of a second, and at least three times.
func medianTime(work func()) float64 {
	var times []float64
	for sum := 0.0; len(times) < 3 || sum < 100_000; sum += times[len(times)-1] {
		times = append(times, microseconds(work))
	}
	return median(times)
}

// meanTime is the time of a call that is too short for the clock, in nanoseconds: the median of
// ten means.
func meanTime(calls int, work func()) float64 {
	var times []float64
	for part := 0; part < 10; part++ {
		times = append(times, microseconds(func() {
			for i := 0; i < calls/10; i++ {
				work()
			}
		}))
	}
	return median(times) * 10_000 / float64(calls)
}

func open(dir string, inotify bool) *Cache {
	cache, err := newCache(dir, inotify)
	check(err)
	return cache
}

func measureReading(data string) {
	for _, size := range []string{"4kB", "60kB", "5MB"} {
		for _, format := range []string{"yaml", "json"} {
			path := filepath.Join(data, size+"."+format, "spec."+format)
			time := medianTime(func() { check(readSpec(path)) })
			fmt.Println("read_"+size+"_"+format, time)
		}
	}
}

// changeOne renames the first device of a file, replaces the file, and returns the new name.
func changeOne(dir string, file int) string {
	path := filepath.Join(dir, fmt.Sprintf("spec%05d.json", file))
	text, err := os.ReadFile(path)
	check(err)
	old, name := "dev0", "new0"
	if bytes.Contains(text, []byte(`"name":"new0"`)) {
		old, name = name, old
	}
	text = bytes.Replace(text, []byte(`"name":"`+old+`"`), []byte(`"name":"`+name+`"`), 1)
	temporary := filepath.Join(dir, ".new")
	check(os.WriteFile(temporary, text, 0o644))
	check(os.Rename(temporary, path))
	return fmt.Sprintf("vendor%d.example.com/device=%s", file, name)
}

func timeOfOneChange(cache *Cache, dir string, files int) float64 {
	var times []float64
	for i := 0; i < 3; i++ {
		name := changeOne(dir, i%files)
		time.Sleep(50 * time.Millisecond)
		times = append(times, microseconds(func() { check(cache.Refresh()) }))
		if cache.GetDevice(name) == nil {
			log.Fatal("the change was not seen: ", name)
		}
	}
	return median(times)
}

func measureRefreshes(data string) {
	for _, files := range []int{1, 10, 100, 1000, 10_000} {
		dir := filepath.Join(data, fmt.Sprint("files-", files))
		fmt.Printf("load_%d %f\n", files, medianTime(func() { open(dir, false) }))
		cache := open(dir, false)
		fmt.Printf("unchanged_%d %f\n", files, medianTime(func() { check(cache.Refresh()) }))
		fmt.Printf("changed_%d %f\n", files, timeOfOneChange(cache, dir, files))
		watched := open(dir, true)
		time := meanTime(20_000, func() { check(watched.Refresh()) })
		fmt.Printf("watched_%d %f\n", files, time/1000)
	}
}

func scattered(names []string) []string {
	rand.New(rand.NewSource(4)).Shuffle(len(names), func(i, j int) {
		names[i], names[j] = names[j], names[i]
	})
	apart := make([]string, 0, len(names)) // contiguous in memory
	for _, name := range names {
		apart = append(apart, strings.Clone(name))
	}
	return apart
}

func timeOfLookup(cache *Cache, names []string, there bool) float64 {
	const lookups = 1_000_000
	found, i := 0, 0
	time := meanTime(lookups, func() {
		if cache.GetDevice(names[i]) != nil {
			found++
		}
		if i++; i == len(names) {
			i = 0
		}
	})
	if (there && found != lookups) || (!there && found != 0) {
		log.Fatal("lookup found a wrong number of devices")
	}
	return time
}

func measureLookups(data string) {
	for _, count := range []int{1, 100, 10_000, 100_000, 1_000_000} {
		dir := filepath.Join(data, fmt.Sprint("devices-", count))
		cache := open(dir, false)
		names := scattered(cache.ListDevices())
		fmt.Printf("hit_%d %f\n", count, timeOfLookup(cache, names, true))
		for i, name := range names {
			names[i] = name[:len(name)-1] + "x"
		}
		fmt.Printf("miss_%d %f\n", count, timeOfLookup(cache, names, false))
	}
}

func measureName(row string, name string, valid bool) {
	time := meanTime(200_000, func() {
		if isName(name) != valid {
			log.Fatal("a wrong name was accepted: ", name)
		}
	})
	fmt.Println(row, time)
}

func measureNames() {
	measureName("name_short", "vendor.com/class=dev", true)
	measureName("name_long", "nvidia.com/gpu=GPU-8b0bda51-9f2f-4d3c-8b4f-0c6a0b6b1f6a", true)
	measureName("name_reason", "vendor.com/class=bad*name", false)
}

func parseConfig(text []byte) *oci.Spec {
	var spec oci.Spec
	check(json.Unmarshal(text, &spec))
	return &spec
}

func injectInto(spec *oci.Spec, cache *Cache, name string) {
	_, err := cache.InjectDevices(spec, name)
	check(err)
}

func measureInjections(data string) {
	cache := open(filepath.Join(data, "60kB.json"), false)
	const name = "vendor.example.com/gpu=0"
	text, err := os.ReadFile(filepath.Join(data, "pod.json"))
	check(err)
	var times []float64
	for i := 0; i < 201; i++ {
		spec := parseConfig(text)
		times = append(times, microseconds(func() { injectInto(spec, cache, name) }))
	}
	fmt.Println("inject_model", median(times))
	fmt.Println("text_model", medianTime(func() {
		spec := parseConfig(text)
		injectInto(spec, cache, name)
		_, err := json.Marshal(spec)
		check(err)
	}))
}

func injectOnce(dir, config, name string) {
	text, err := os.ReadFile(config)
	check(err)
	spec := parseConfig(text)
	injectInto(spec, open(dir, false), name)
	text, err = json.MarshalIndent(spec, "", "  ")
	check(err)
	_, err = os.Stdout.Write(text)
	check(err)
}

func main() {
	data := os.Args[2]
	switch os.Args[1] {
	case "read":
		measureReading(data)
	case "refresh":
		measureRefreshes(data)
	case "lookup":
		measureLookups(data)
	case "names":
		measureNames()
	case "inject":
		measureInjections(data)
	case "load":
		if len(open(data, false).ListDevices()) == 0 {
			log.Fatal("no devices")
		}
	case "once":
		injectOnce(data, os.Args[3], os.Args[4])
	}
}
