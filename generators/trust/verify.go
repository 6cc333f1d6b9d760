// Verifies checkpoints, inclusion and consistency proofs with Go's own library for such logs. It reads cases as JSON
// from standard input, and prints the result of each: "ok" or the error.
package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type test struct {
	Kind        string
	VerifierKey string
	Checkpoint  string
	From        string
	To          string
	Hashes      []string
	Events      []event
}

type event struct {
	Index  int64
	Leaf   string
	Hashes []string
}

func main() {
	var tests []test
	if err := json.NewDecoder(os.Stdin).Decode(&tests); err != nil {
		panic(err)
	}
	results := []string{}
	for _, each := range tests {
		result := "ok"
		if err := check(each); err != nil {
			result = err.Error()
		}
		results = append(results, result)
	}
	json.NewEncoder(os.Stdout).Encode(results)
}

func check(each test) error {
	if each.Kind == "growth" {
		from, err := open(each.From, each.VerifierKey)
		if err != nil {
			return err
		}
		to, err := open(each.To, each.VerifierKey)
		if err != nil {
			return err
		}
		hashes, err := decode(each.Hashes)
		if err != nil {
			return err
		}
		return tlog.CheckTree(hashes, to.N, to.Hash, from.N, from.Hash)
	}
	tree, err := open(each.Checkpoint, each.VerifierKey)
	if err != nil {
		return err
	}
	for _, found := range each.Events {
		hashes, err := decode(found.Hashes)
		if err != nil {
			return err
		}
		if err := tlog.CheckRecord(hashes, tree.N, tree.Hash, found.Index, tlog.RecordHash([]byte(found.Leaf))); err != nil {
			return err
		}
	}
	return nil
}

// open verifies a note, and reads the three lines of a checkpoint.
func open(text string, key string) (tlog.Tree, error) {
	verifier, err := note.NewVerifier(key)
	if err != nil {
		return tlog.Tree{}, err
	}
	opened, err := note.Open([]byte(text), note.VerifierList(verifier))
	if err != nil {
		return tlog.Tree{}, err
	}
	var origin, root string
	var size int64
	if _, err := fmt.Sscanf(opened.Text, "%s\n%d\n%s\n", &origin, &size, &root); err != nil {
		return tlog.Tree{}, err
	}
	if origin != verifier.Name() {
		return tlog.Tree{}, fmt.Errorf("the checkpoint is of another log")
	}
	hashes, err := decode([]string{root})
	if err != nil {
		return tlog.Tree{}, err
	}
	return tlog.Tree{N: size, Hash: hashes[0]}, nil
}

func decode(texts []string) ([]tlog.Hash, error) {
	hashes := []tlog.Hash{}
	for _, text := range texts {
		bytes, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(bytes) != tlog.HashSize {
			return nil, fmt.Errorf("not a hash")
		}
		hashes = append(hashes, tlog.Hash(bytes))
	}
	return hashes, nil
}
