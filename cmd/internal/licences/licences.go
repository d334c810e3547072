// Package licences holds the licence texts of the third-party software in the program.
//
// "make licences" writes third_party.txt (package inventory); a test of that package fails if a module is missing.
package licences

import _ "embed"

//go:embed third_party.txt
var thirdParty string

// ThirdParty returns, for every module and npm package in the program, its name, its version and its licence text.
func ThirdParty() string { return thirdParty }
