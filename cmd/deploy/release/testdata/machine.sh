# A machine on which somebody follows the page "Run it as a service": a copy of this one's files, with a network of its own
# and without systemd. Whatever is here stands for what such a machine has. Then comes the page, block by block.
cd /packages
export DEBIAN_FRONTEND=noninteractive LC_ALL=C PATH=/usr/local/bin:/usr/local/sbin:/usr/sbin:/sbin:$PATH
set -x
ip link set lo up
echo 'APT::Get::Assume-Yes "true";' >/etc/apt/apt.conf.d/99yes # as somebody answers
echo '127.0.0.1 archive.example.org data.example.org' >>/etc/hosts

cat >/usr/local/bin/sudo <<'END'
#!/bin/sh
if [ "$1" = -u ]; then
	user=$2
	shift 2
	exec setpriv --reuid "$user" --regid "$user" --init-groups -- "$@"
fi
exec "$@"
END
# The program runs as the unit has it: its command line, user, directories and the files that it may write, without rights.
cat >/usr/local/bin/systemctl <<'END'
#!/bin/sh
set -eu
unit() { sed -n "s/^$1=//p" /usr/lib/systemd/system/odarchive.service; }
case "$*" in
"enable --now odarchive")
	install -d -o "$(unit User)" -g "$(unit Group)" "/run/$(unit RuntimeDirectory)"
	cd "$(unit WorkingDirectory)"
	umask "$(unit UMask)"
	export ODARCHIVE_ALLOW_PRIVATE_HOSTS=true # the portal is on this machine
	unshare --mount sh -euc 'for dir in /var/lib/odarchive /run/odarchive; do mount --bind $dir $dir; done
		mount -t tmpfs none /tmp
		mount -o remount,bind,ro /
		cd "$1"; shift
		exec "$@"' sh "$PWD" setpriv --reuid "$(unit User)" --regid "$(unit Group)" --clear-groups --no-new-privs \
		--bounding-set=-all --inh-caps=-all -- $(unit ExecStart) >/var/log/odarchive.log 2>&1 &
	echo $! >/run/odarchive.pid
	tries=0
	until curl -sf -o /dev/null http://127.0.0.1:8080/readyz; do
		tries=$((tries + 1))
		if [ $tries -gt 600 ] || ! kill -0 "$(cat /run/odarchive.pid)"; then
			cat /var/log/odarchive.log
			exit 1
		fi
		sleep 0.1
	done
	;;
"reload odarchive") kill -HUP "$(cat /run/odarchive.pid)" ;;
"reload nginx") if [ -s /run/nginx.pid ]; then nginx -s reload; else nginx; fi ;;
*)
	echo "systemctl $*: this machine does not know that" >&2
	exit 1
	;;
esac
END
chmod 755 /usr/local/bin/sudo /usr/local/bin/systemctl

# A portal.
mkdir -p /srv/portal /etc/odarchive
cat >/srv/portal/catalog.ttl <<'END'
@prefix dcat: <http://www.w3.org/ns/dcat#> .
@prefix dct: <http://purl.org/dc/terms/> .
<http://data.example.org/> a dcat:Catalog ; dct:title "A portal" ; dcat:dataset <http://data.example.org/trees> .
<http://data.example.org/trees> a dcat:Dataset ; dct:title "Trees" ;
  dcat:distribution <http://data.example.org/trees#csv> .
<http://data.example.org/trees#csv> a dcat:Distribution ; dct:format "CSV" ; dcat:downloadURL <http://data.example.org/trees.csv> .
END
printf 'id,species\n1,lime\n2,oak\n3,elm\n' >/srv/portal/trees.csv
rm -f /etc/nginx/sites-enabled/default
cat >/etc/nginx/conf.d/portal.conf <<'END'
server {
	listen 80;
	server_name data.example.org;
	types { text/turtle ttl; text/csv csv; }
	root /srv/portal;
}
END
chmod -R a+rX /srv/portal
again() {
	tries=0
	until "$@"; do
		tries=$((tries + 1))
		if [ $tries -gt 120 ]; then
			tail -n 50 /var/log/odarchive.log
			exit 1
		fi
		sleep 0.5
	done
}
