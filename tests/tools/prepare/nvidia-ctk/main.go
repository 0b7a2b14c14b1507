// What the generator of NVIDIA's toolkit makes of a node, with a mock of NVML in the place of GPUs.
// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// nvidia-ctk facts SERVER: the GPUs of a server, as JSON
// nvidia-ctk spec SERVER ROOT MODE: the spec for the driver and the nodes below ROOT, as JSON
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/NVIDIA/go-nvlib/pkg/nvlib/device"
	"github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/dgxa100"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/dgxb200"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/dgxh100"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/dgxh200"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/server"
	"github.com/NVIDIA/nvidia-container-toolkit/pkg/nvcdi"
	"github.com/NVIDIA/nvidia-container-toolkit/pkg/nvcdi/transform"
	"github.com/sirupsen/logrus"
)

var servers = map[string]func() *server.Server{
	"dgxa100": dgxa100.New,
	"dgxh100": dgxh100.New,
	"dgxh200": dgxh200.New,
	"dgxb200": dgxb200.New,
}

type gpu struct {
	UUID, Name, Address string
	Minor               int
	PciID               string
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// The mock makes other UUIDs in each run.
func setUUIDs(made *server.Server) {
	for index, any := range made.Devices {
		any.(*server.Device).UUID = fmt.Sprintf("GPU-00000000-0000-4000-8000-%012d", index)
	}
}

func facts(made *server.Server) map[string]any {
	version, _ := made.SystemGetDriverVersion()
	gpus := []gpu{}
	for _, any := range made.Devices {
		one := any.(*server.Device)
		pci, _ := one.GetPciInfo()
		minor, _ := one.GetMinorNumber()
		name, _ := one.GetName()
		gpus = append(gpus, gpu{one.UUID, name, one.PciBusID, minor,
			fmt.Sprintf("%08x", pci.PciDeviceId)})
	}
	return map[string]any{"driver": version, "gpus": gpus}
}

func spec(made *server.Server, root, mode string) any {
	// What the mock lacks, and whole GPUs need.
	for _, any := range made.Devices {
		one := any.(*server.Device)
		one.IsMigDeviceHandleFunc = func() (bool, nvml.Return) { return false, nvml.SUCCESS }
		one.GetMaxMigDeviceCountFunc = func() (int, nvml.Return) { return 0, nvml.SUCCESS }
	}
	log := logrus.New()
	log.SetOutput(io.Discard)
	namers := []nvcdi.DeviceNamer{}
	for _, style := range []string{nvcdi.DeviceNameStrategyUUID, nvcdi.DeviceNameStrategyIndex} {
		namer, err := nvcdi.NewDeviceNamer(style)
		check(err)
		namers = append(namers, namer)
	}
	lib, err := nvcdi.New(nvcdi.WithNvmlLib(made), nvcdi.WithDeviceLib(device.New(made)),
		nvcdi.WithDriverRoot(root), nvcdi.WithDevRoot(root), nvcdi.WithMode(mode),
		nvcdi.WithDeviceNamers(namers...), nvcdi.WithLogger(log),
		nvcdi.WithMergedDeviceOptions(transform.WithName("all"), transform.WithSkipIfExists(true)),
		nvcdi.WithNVIDIACDIHookPath("/usr/bin/nvidia-cdi-hook"))
	check(err)
	generated, err := lib.GetSpec()
	check(err)
	return generated.Raw()
}

func main() {
	if len(os.Args) < 3 || servers[os.Args[2]] == nil {
		fmt.Fprintln(os.Stderr, "usage: nvidia-ctk facts SERVER | spec SERVER ROOT MODE")
		os.Exit(2)
	}
	made := servers[os.Args[2]]()
	setUUIDs(made)
	var out any = facts(made)
	if os.Args[1] == "spec" {
		out = spec(made, os.Args[3], os.Args[4])
	}
	check(json.NewEncoder(os.Stdout).Encode(out))
}
