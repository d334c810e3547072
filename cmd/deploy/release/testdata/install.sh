# The life of a package on a machine: installed, used, upgraded, removed, purged, installed again. It runs as root in a
# copy of a machine's files. The first line that fails ends it.
cd /packages
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
set -x
settings=/etc/odarchive/odarchive.toml
as_service() { setpriv --reuid odarchive --regid odarchive --clear-groups --no-new-privs -- odarchive --config "$settings" "$@"; }

fails() { if "$@"; then exit 1; fi; }

dpkg --no-triggers -i first.deb
test -z "$(dpkg --verify odarchive)"
odarchive version | grep -x 'odarchive v1.0.0'
test "$(stat -c '%U:%G %a' $settings)" = 'root:odarchive 640'
test "$(stat -c '%U:%G %a' /var/lib/odarchive)" = 'odarchive:odarchive 750'
grep -x 'data = "/var/lib/odarchive"' $settings
test -s /usr/share/man/man1/odarchive-serve.1.gz
zcat /usr/share/man/man5/odarchive.toml.5.gz | grep -q '^.TH ODARCHIVE.TOML 5'
zcat /usr/share/doc/odarchive/THIRD-PARTY.txt.gz | grep -q 'badger'
bash -n /usr/share/bash-completion/completions/odarchive
if command -v systemd-analyze >/dev/null; then
	systemd-analyze verify --man=no /usr/lib/systemd/system/odarchive.service /usr/lib/systemd/system/odarchive.socket /usr/lib/systemd/system/odarchive-follow.service /usr/lib/systemd/system/odarchive-work@a.service
fi

# An archive, and settings of somebody.
as_service add https://data.example.org/a.csv
echo 'contact = "ops@archive.example"' >>$settings

dpkg --no-triggers -i second.deb </dev/null
odarchive version | grep -x 'odarchive v1.1.0'
tail -n 1 $settings | grep ops@archive.example
test "$(stat -c '%U:%G %a' $settings)" = 'root:odarchive 640'
as_service dump | grep -q https://data.example.org/a.csv

dpkg --no-triggers -r odarchive
fails test -e /usr/bin/odarchive
tail -n 1 $settings | grep ops@archive.example

dpkg --no-triggers -P odarchive >said
grep 'The archive stays in /var/lib/odarchive' said
fails test -e /etc/odarchive
fails dpkg -s odarchive 2>/dev/null
test -d /var/lib/odarchive/log
id odarchive

dpkg --no-triggers -i second.deb
as_service dump | grep -q https://data.example.org/a.csv
