// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

// The Go side of run.sh: see ours.cpp, which measures the same in the same order. module.go and
// debian.go choose the release.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"math/rand"
	"os"
	"path/filepath"
	"runtime/debug"
	"sort"
	"strings"
	"time"

	oci "github.com/opencontainers/runtime-spec/specs-go"
)

const unchangedCalls = 3

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

// kilobytes is a line of /proc/self/status.
func kilobytes(name string) string {
	status, err := os.ReadFile("/proc/self/status")
	check(err)
	for _, line := range strings.Split(string(status), "\n") {
		if strings.HasPrefix(line, name+":") {
			return strings.Fields(line)[1]
		}
	}
	return "0"
}

// changeOne renames the first device of a file, replaces the file, and returns the new name.
func changeOne(dir string, file int) string {
	path := filepath.Join(dir, fmt.Sprintf("spec%05d.json", file))
	text, err := os.ReadFile(path)
	check(err)
	name := "new0"
	if bytes.Contains(text, []byte(`"name":"new0"`)) {
		name = "dev0"
		text = bytes.Replace(text, []byte(`"name":"new0"`), []byte(`"name":"dev0"`), 1)
	} else {
		text = bytes.Replace(text, []byte(`"name":"dev0"`), []byte(`"name":"new0"`), 1)
	}
	temporary := filepath.Join(dir, ".new")
	check(os.WriteFile(temporary, text, 0o644))
	check(os.Rename(temporary, path))
	return fmt.Sprintf("vendor%d.example.com/device=%s", file, name)
}

// nanosecondsPerName is the mean time of one lookup over all names in a random order, 20 times.
func nanosecondsPerName(cache *Cache, names []string, there bool) float64 {
	lookups := 20 * len(names)
	found := 0
	time := microseconds(func() {
		for i := 0; i < lookups; i++ {
			if cache.GetDevice(names[i%len(names)]) != nil {
				found++
			}
		}
	})
	if (there && found != lookups) || (!there && found != 0) {
		log.Fatal("lookup found a wrong number of devices")
	}
	return time * 1000 / float64(lookups)
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

// medianTime is the median time of some calls.
func medianTime(repeats int, work func(i int)) float64 {
	var times []float64
	for i := 0; i < repeats; i++ {
		times = append(times, microseconds(func() { work(i) }))
	}
	return median(times)
}

func measureReading(dir string) {
	for _, format := range []string{"yaml", "json"} {
		path := filepath.Join(dir, format, "gpu."+format)
		time := medianTime(21, func(int) { check(readSpec(path)) })
		fmt.Println("read_"+format+"_us", time)
	}
}

func parseConfig(text []byte) *oci.Spec {
	var spec oci.Spec
	check(json.Unmarshal(text, &spec))
	return &spec
}

func measureInjections(dir string) {
	const repeats = 201
	cache, err := newCache(filepath.Join(dir, "json"))
	check(err)
	var names []string
	for i := 0; i < 4; i++ {
		names = append(names, fmt.Sprint("vendor.example.com/gpu=gpu-", i))
	}
	inject := func(spec *oci.Spec) {
		_, err := cache.InjectDevices(spec, names...)
		check(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "pod.json"))
	check(err)
	var specs []*oci.Spec
	for i := 0; i < repeats; i++ {
		specs = append(specs, parseConfig(text))
	}
	fmt.Println("inject_us", medianTime(repeats, func(i int) { inject(specs[i]) }))
	whole := medianTime(repeats, func(int) {
		spec := parseConfig(text)
		inject(spec)
		_, err := json.Marshal(spec)
		check(err)
	})
	fmt.Println("config_us", whole)
	fmt.Println("config_json_us", whole) // Go has only one way
}

func measureNames() {
	const rounds = 20000
	for _, good := range []bool{true, false} {
		names := []string{"vendor.com/class=dev",
			"nvidia.com/gpu=GPU-8b0bda51-9f2f-4d3c-8b4f-0c6a0b6b1f6a", "intel.com/vf=0000:3b:02.1"}
		label := "name_ns"
		if !good {
			label = "bad_name_ns"
			for i := range names {
				names[i] += "*"
			}
		}
		time := microseconds(func() {
			for i := 0; i < rounds; i++ {
				for _, name := range names {
					if isName(name) != good {
						log.Fatal("a wrong number of names was accepted")
					}
				}
			}
		})
		fmt.Println(label, time*1000/float64(rounds*len(names)))
	}
}

func measureFreshness(cache *Cache, dir string) {
	fmt.Println("unchanged_us", medianTime(unchangedCalls, func(int) { check(cache.Refresh()) }))
	var times []float64
	for file := 0; file < 5; file++ {
		name := changeOne(dir, file)
		time.Sleep(50 * time.Millisecond)
		times = append(times, microseconds(func() { check(cache.Refresh()) }))
		if cache.GetDevice(name) == nil {
			log.Fatal("the change was not seen: ", name)
		}
	}
	fmt.Println("one_changed_us", median(times))
}

func measureDirectory(dir string) {
	var cache *Cache
	var err error
	fmt.Println("load_us", microseconds(func() { cache, err = newCache(dir) }))
	check(err)
	fmt.Println("peak_kB", kilobytes("VmHWM"))
	debug.FreeOSMemory() // garbage does not count, in favour of Go
	fmt.Println("resident_kB", kilobytes("VmRSS"))
	measureFreshness(cache, dir)

	names := scattered(cache.ListDevices())
	fmt.Println("hit_ns", nanosecondsPerName(cache, names, true))
	for i, name := range names {
		names[i] = name[:len(name)-1] + "x"
	}
	fmt.Println("miss_ns", nanosecondsPerName(cache, names, false))
}

func main() {
	dir := os.Args[1]
	measureDirectory(filepath.Join(dir, "many"))
	measureReading(dir)
	measureInjections(dir)
	measureNames()
}
