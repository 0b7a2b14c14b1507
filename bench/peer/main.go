// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

// The Go side of run.sh: see ours.cpp, which measures the same in the same order.
package main

import (
	"bytes"
	"fmt"
	"log"
	"math/rand"
	"os"
	"path/filepath"
	"runtime/debug"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/container-orchestrated-devices/container-device-interface/pkg/cdi"
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

// changeOne renames the first device of a file, replaces the file, and gives the new name.
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

// nanosecondsPerName is what one lookup takes, over all names in a scattered order.
func nanosecondsPerName(cache *cdi.Cache, names []string, there bool) float64 {
	found := 0
	time := microseconds(func() {
		for _, name := range names {
			if cache.GetDevice(name) != nil {
				found++
			}
		}
	})
	if (there && found != len(names)) || (!there && found != 0) {
		log.Fatal("not the devices asked for")
	}
	return time * 1000 / float64(len(names))
}

func scattered(names []string) []string {
	rand.New(rand.NewSource(4)).Shuffle(len(names), func(i, j int) {
		names[i], names[j] = names[j], names[i]
	})
	apart := make([]string, 0, len(names)) // one after the other in memory
	for _, name := range names {
		apart = append(apart, strings.Clone(name))
	}
	return apart
}

func main() {
	dir := os.Args[1]
	changes, err := strconv.Atoi(os.Args[2])
	check(err)
	var cache *cdi.Cache
	fmt.Println("load_us", microseconds(func() {
		cache, err = cdi.NewCache(cdi.WithSpecDirs(dir), cdi.WithAutoRefresh(false))
	}))
	check(err)
	fmt.Println("peak_kB", kilobytes("VmHWM"))
	debug.FreeOSMemory() // in favour of Go: garbage does not count
	fmt.Println("resident_kB", kilobytes("VmRSS"))

	if changes > 0 {
		var times []float64
		for i := 0; i < unchangedCalls; i++ {
			times = append(times, microseconds(func() { check(cache.Refresh()) }))
		}
		fmt.Println("unchanged_us", median(times))
		times = nil
		for file := 0; file < changes; file++ {
			name := changeOne(dir, file)
			time.Sleep(50 * time.Millisecond)
			times = append(times, microseconds(func() { check(cache.Refresh()) }))
			if cache.GetDevice(name) == nil {
				log.Fatal("the change was not seen: ", name)
			}
		}
		fmt.Println("one_changed_us", median(times))
	}

	names := scattered(cache.ListDevices())
	fmt.Println("hit_ns", nanosecondsPerName(cache, names, true))
	for i, name := range names {
		names[i] = name[:len(name)-1] + "x"
	}
	fmt.Println("miss_ns", nanosecondsPerName(cache, names, false))
	fmt.Println("devices", len(names))
}
