// Prints the tree that the Go reference reads from a YAML text.
// SPDX-License-Identifier: Apache-2.0 OR MIT

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

// isNull reports whether a plain scalar means null.
func isNull(text string) bool {
	return text == "" || text == "~" || text == "null" || text == "Null" || text == "NULL"
}

const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

func isPlain(node *yaml.Node) bool {
	if node.Style&yaml.TaggedStyle == 0 {
		return node.Style&quoted == 0
	}
	switch node.Tag {
	case "!!null", "!!bool", "!!int", "!!float", "!!timestamp", "!!merge":
		return true
	}
	return false
}

// maxBytes limits a tree, which has no end if an alias refers to a value around it.
const maxBytes = 1 << 16

// writeTree writes a value like trees.cpp.
func writeTree(node *yaml.Node, out *strings.Builder) {
	if out.Len() > maxBytes {
		return
	}
	switch node.Kind {
	case yaml.AliasNode:
		writeTree(node.Alias, out)
	case yaml.ScalarNode:
		null := node.Tag == "!!null" || node.Style&quoted == 0
		if isPlain(node) && null && isNull(node.Value) {
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

// treeOf is the first document of a YAML text, or the error.
func treeOf(text []byte) string {
	var document yaml.Node
	if err := yaml.NewDecoder(bytes.NewReader(text)).Decode(&document); err != nil {
		return "error: " + err.Error()
	}
	var value any // which a map as a key cannot make
	if err := document.Decode(&value); err != nil {
		return "error: " + err.Error()
	}
	var out strings.Builder
	writeTree(document.Content[0], &out)
	if out.Len() > maxBytes {
		return "error: too large"
	}
	return out.String()
}

// runTrees prints the tree of each text of the standard input. Texts and trees follow their sizes.
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
