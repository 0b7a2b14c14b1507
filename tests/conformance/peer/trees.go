// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"
)

// isNull tells whether a plain scalar stands for null.
func isNull(text string) bool {
	return text == "" || text == "~" || text == "null" || text == "Null" || text == "NULL"
}

const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

func isPlain(node *yaml.Node) bool {
	if node.Style&yaml.TaggedStyle != 0 {
		return node.Tag != "!!str"
	}
	return node.Style&quoted == 0
}

// mostBytes of a tree: an alias may stand inside what it names, and so have no end.
const mostBytes = 1 << 16

// writeTree writes a value in the form of trees.cpp.
func writeTree(node *yaml.Node, out *strings.Builder) {
	if out.Len() > mostBytes {
		return
	}
	switch node.Kind {
	case yaml.AliasNode:
		writeTree(node.Alias, out)
	case yaml.ScalarNode:
		if isPlain(node) && node.Style&quoted == 0 && isNull(node.Value) {
			out.WriteString("null")
		} else if isPlain(node) {
			fmt.Fprintf(out, "plain %d:%s", len(node.Value), node.Value)
		} else {
			fmt.Fprintf(out, "text %d:%s", len(node.Value), node.Value)
		}
	default:
		brackets := "[]"
		if node.Kind == yaml.MappingNode {
			brackets = "{}"
		}
		out.WriteByte(brackets[0])
		for _, item := range node.Content {
			writeTree(item, out)
			out.WriteByte(' ')
		}
		out.WriteByte(brackets[1])
	}
}

// treeOf is the first document of a YAML text, or why there is none.
func treeOf(text []byte) string {
	var document yaml.Node
	if err := yaml.NewDecoder(bytes.NewReader(text)).Decode(&document); err != nil {
		return "error: " + err.Error()
	}
	var out strings.Builder
	writeTree(document.Content[0], &out)
	if out.Len() > mostBytes {
		return "error: too large"
	}
	return out.String()
}

// runTrees answers each text of the standard input, both with their size before them.
func runTrees() {
	in, out := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	defer out.Flush()
	var size uint32
	for binary.Read(in, binary.LittleEndian, &size) == nil {
		text := make([]byte, size)
		_, err := io.ReadFull(in, text)
		check(err)
		tree := treeOf(text)
		check(binary.Write(out, binary.LittleEndian, uint32(len(tree))))
		_, err = out.WriteString(tree)
		check(err)
	}
}
