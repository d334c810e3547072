package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// dataDir is where the service keeps the archive.
const dataDir = "/var/lib/odarchive"

// shared returns the files that the packages of all platforms have. Those that the program writes are written by host.
func (r *release) shared(ctx context.Context, host string) (tree, error) {
	t := tree{}
	for _, name := range []string{"README.md", "CHANGELOG.md", "LICENSE", "NOTICE"} {
		t[name] = file{path: filepath.Join(r.root, name)}
	}
	t["THIRD-PARTY.txt"] = file{path: filepath.Join(r.root, "cmd", "internal", "licences", "third_party.txt")}
	deploy := filepath.Join(r.root, "cmd", "deploy")
	if err := t.add("systemd", filepath.Join(deploy, "systemd")); err != nil {
		return nil, err
	}
	pages := filepath.Join(r.work, "man")
	if _, err := r.output(ctx, nil, host, "man", pages); err != nil {
		return nil, err
	}
	if err := t.add("man", pages); err != nil {
		return nil, err
	}
	for name, args := range map[string][]string{
		"completions/odarchive.bash": {"completion", "bash"}, "completions/_odarchive": {"completion", "zsh"},
		"completions/odarchive.fish": {"completion", "fish"},
		"odarchive.toml":             {"man", "--settings"}, "systemd/odarchive.toml": {"man", "--settings", "--settings-data", dataDir},
	} {
		text, err := r.output(ctx, nil, host, args...)
		if err != nil {
			return nil, err
		}
		t[name] = file{data: text}
	}
	return t, nil
}

// deb writes the package for Debian of the files that a tarball has.
func (r *release) deb(ctx context.Context, p platform, all tree, nfpm string) error {
	t, err := debian(r.root, all)
	if err != nil {
		return err
	}
	stage := filepath.Join(r.work, "deb_"+p.arch)
	if err := t.writeTo(stage, r.time); err != nil {
		return err
	}
	settings := stage + ".settings"
	if err := os.WriteFile(settings, all["systemd/odarchive.toml"].data, 0o644); err != nil {
		return err
	}
	if err := os.Chtimes(settings, r.time, r.time); err != nil {
		return err
	}
	version := debianVersion(r.version)
	name := filepath.Join(r.out, "odarchive_"+version+"_"+p.arch+".deb")
	environ := []string{"STAGE=" + stage, "ARCH=" + p.arch, "VERSION=" + version, "MAINTAINER=" + r.maintainer,
		fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.time.Unix())}
	if _, err := r.output(ctx, environ, nfpm, "package", "--config", filepath.Join("cmd", "deploy", "debian", "nfpm.yaml"), "--packager",
		"deb", "--target", name); err != nil {
		return err
	}
	fmt.Fprintln(r.log, name)
	return nil
}

// debian returns the files of a tarball where Debian has them, all but the settings file.
func debian(root string, all tree) (tree, error) {
	const doc = "usr/share/doc/odarchive/"
	places := map[string]string{
		"odarchive":                        "usr/bin/odarchive",
		"README.md":                        doc + "README.md",
		"NOTICE":                           doc + "NOTICE",
		"THIRD-PARTY.txt":                  doc + "THIRD-PARTY.txt.gz",
		"odarchive.cdx.json":               doc + "odarchive.cdx.json.gz",
		"CHANGELOG.md":                     doc + "changelog.gz",
		"completions/odarchive.bash":       "usr/share/bash-completion/completions/odarchive",
		"completions/_odarchive":           "usr/share/zsh/vendor-completions/_odarchive",
		"completions/odarchive.fish":       "usr/share/fish/vendor_completions.d/odarchive.fish",
		"systemd/odarchive.service":        "usr/lib/systemd/system/odarchive.service",
		"systemd/odarchive.socket":         "usr/lib/systemd/system/odarchive.socket",
		"systemd/odarchive-work@.service":  "usr/lib/systemd/system/odarchive-work@.service",
		"systemd/odarchive-follow.service": "usr/lib/systemd/system/odarchive-follow.service",
		"systemd/odarchive.sysusers":       "usr/lib/sysusers.d/odarchive.conf",
	}
	t := tree{}
	for name, f := range all {
		to := places[name]
		if strings.HasPrefix(name, "man/") {
			to = "usr/share/" + name + ".gz"
		}
		if to == "" {
			continue
		}
		if strings.HasSuffix(to, ".gz") {
			var err error
			if f, err = f.zipped(); err != nil {
				return nil, err
			}
		}
		t[to] = f
	}
	copyright, err := copyright(root, all)
	t[doc+"copyright"] = copyright
	t[doc+"README.Debian"] = file{path: filepath.Join(root, "cmd", "deploy", "debian", "README.Debian")}
	return t, err
}

// copyright returns the file that Debian has of each package
// (https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/).
func copyright(root string, all tree) (file, error) {
	notice, err := all["NOTICE"].read()
	if err != nil {
		return file{}, err
	}
	owner := ""
	for line := range bytes.Lines(notice) {
		if rest, ok := bytes.CutPrefix(line, []byte("Copyright ")); ok {
			owner = string(bytes.TrimSpace(rest))
		}
	}
	if owner == "" {
		return file{}, fmt.Errorf("%s: no line begins with Copyright", filepath.Join(root, "NOTICE"))
	}
	return file{data: []byte("Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: ODArchive\n" +
		"Comment: Software of others in the program, and its licences, are in THIRD-PARTY.txt.gz beside this file.\n\n" +
		"Files: *\nCopyright: " + owner + "\nLicense: Apache-2.0\n\n" +
		"License: Apache-2.0\n On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.\n")}, nil
}

// debianVersion returns a version as dpkg orders it: what comes before a release is less than the release.
func debianVersion(version string) string {
	if version == unknown {
		return "0~" + unknown
	}
	number, build, hasBuild := strings.Cut(version, "+")
	number, before, isBefore := strings.Cut(number, "-")
	if isBefore {
		number += "~" + strings.ReplaceAll(before, "-", ".")
	}
	if hasBuild {
		number += "+" + strings.ReplaceAll(build, "-", ".")
	}
	return number
}
