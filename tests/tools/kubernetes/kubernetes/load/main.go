// load creates the objects of YAML files on a real API server, with their status, which takes a second
// request. In reservedFor it writes the UIDs that the server gave to the pods.
// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A test needs no scheduler and no controllers then: the files say which devices a claim has.
//
//	load -kubeconfig DIR/kubeconfig FILE...
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"

	"k8s-judges/kubernetes/internal/cluster"
)

// strict makes the server refuse what it does not know.
var strict = metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "the API server")
	flag.Parse()
	if err := run(*kubeconfig, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func run(kubeconfig string, files []string) error {
	ctx := context.Background()
	client, err := cluster.Client(kubeconfig, "")
	if err != nil {
		return err
	}
	var claims []*resourceapi.ResourceClaim // last: they name pods
	for _, file := range files {
		objects, err := cluster.Load(file)
		if err != nil {
			return err
		}
		for _, object := range objects {
			if claim, is := object.(*resourceapi.ResourceClaim); is {
				claims = append(claims, claim)
			} else if err := create(ctx, client, object); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
		}
	}
	for _, claim := range claims {
		if err := createClaim(ctx, client, claim); err != nil {
			return fmt.Errorf("claim %s: %w", claim.Name, err)
		}
	}
	return nil
}

func create(ctx context.Context, client kubernetes.Interface, object runtime.Object) (err error) {
	switch object := object.(type) {
	case *v1.Node:
		_, err = client.CoreV1().Nodes().Create(ctx, object, strict)
	case *v1.Pod:
		_, err = client.CoreV1().Pods(object.Namespace).Create(ctx, object, strict)
	case *resourceapi.DeviceClass:
		_, err = client.ResourceV1().DeviceClasses().Create(ctx, object, strict)
	case *resourceapi.ResourceSlice:
		_, err = client.ResourceV1().ResourceSlices().Create(ctx, object, strict)
	default:
		err = fmt.Errorf("load does not know %T", object)
	}
	return err
}

func createClaim(ctx context.Context, client kubernetes.Interface, wanted *resourceapi.ResourceClaim) error {
	claim, err := client.ResourceV1().ResourceClaims(wanted.Namespace).Create(ctx, wanted.DeepCopy(), strict)
	if err != nil {
		return err
	}
	claim.Status = wanted.Status
	for i := range claim.Status.ReservedFor {
		pod, err := client.CoreV1().Pods(claim.Namespace).Get(ctx, claim.Status.ReservedFor[i].Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		claim.Status.ReservedFor[i].UID = pod.UID
	}
	_, err = client.ResourceV1().ResourceClaims(claim.Namespace).UpdateStatus(ctx, claim,
		metav1.UpdateOptions{FieldValidation: metav1.FieldValidationStrict})
	return err
}
